//! The simulator's own pseudo-random numbers: SplitMix64, integer odds only, the same everywhere for a seed.

/// A stream of numbers that a seed determines.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The stream of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.draw() % bound.max(1)
    }

    /// True `hits` times out of `of`.
    pub fn odds(&mut self, hits: u64, of: u64) -> bool {
        self.below(of) < hits
    }

    /// One of the choices.
    pub fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        if choices.is_empty() { None } else { choices.get(self.below(choices.len() as u64) as usize) }
    }

    /// A stream of its own for a purpose, so that drawing more there changes nothing here.
    pub fn fork(&self, purpose: u64) -> Self {
        let mut rng = Self(self.0 ^ purpose.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        rng.draw();
        rng
    }
}

/// A well-mixed number for a number: stands in for the hash of a row.
pub fn mix(value: u64) -> u64 {
    Rng::new(value).draw()
}
