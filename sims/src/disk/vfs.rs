//! The way into SQLite: a VFS, the default one of this process, that asks a [`Disk`] before it hands a call to the
//! system's own. Files outside of a disk's folder go straight there.
#![expect(
    unsafe_code,
    reason = "SQLite calls a VFS through C function pointers, and it hands files over as raw memory"
)]

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::mem::size_of;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError, Weak};

use rusqlite::ffi;
use rusqlite::ffi::{sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs};

use super::{Disk, Verdict};
use crate::fault::Op;

/// Disks by their folders.
static DISKS: Mutex<BTreeMap<PathBuf, Weak<Disk>>> = Mutex::new(BTreeMap::new());
/// The system's VFS.
static SYSTEM: AtomicPtr<sqlite3_vfs> = AtomicPtr::new(std::ptr::null_mut());
static REGISTERED: Once = Once::new();

/// Has every file of a folder go through a disk.
pub(super) fn attach(folder: &Path, disk: &Arc<Disk>) {
    REGISTERED.call_once(register);
    let mut disks = DISKS.lock().unwrap_or_else(PoisonError::into_inner);
    disks.insert(folder.to_owned(), Arc::downgrade(disk));
}

/// Undoes [`attach`].
pub(super) fn detach(folder: &Path) {
    DISKS.lock().unwrap_or_else(PoisonError::into_inner).remove(folder);
}

/// Which file of which disk.
struct Place {
    disk: Arc<Disk>,
    name: String,
    /// Whether its first sync syncs the folder too: SQLite's own VFS does so for journals that it makes.
    syncs_folder: bool,
}

/// What SQLite sees of an open file. The system's file follows it in memory.
#[repr(C)]
struct File {
    base: sqlite3_file,
    /// Owned; null for files of no disk.
    place: *mut Place,
}

fn register() {
    // SAFETY: a null name asks for the default VFS, which SQLite keeps for the life of the process.
    let system = unsafe { ffi::sqlite3_vfs_find(std::ptr::null()) };
    // SAFETY: it is null, or points at a VFS as said above.
    let Some(found) = (unsafe { system.as_ref() }) else { return };
    SYSTEM.store(system, Ordering::Release);
    let mut ours = *found;
    ours.pNext = std::ptr::null_mut();
    ours.zName = c"simulated-disk".as_ptr();
    ours.szOsFile = found.szOsFile + size_of::<File>() as c_int;
    ours.xOpen = Some(open);
    ours.xDelete = Some(delete);
    // SQLite keeps the pointer for ever.
    let ours = Box::leak(Box::new(ours));
    // SAFETY: `ours` is whole and is never freed or changed by us again.
    unsafe { ffi::sqlite3_vfs_register(ours, 1) };
}

static METHODS: sqlite3_io_methods = sqlite3_io_methods {
    // Without memory-mapped reading of files: every read and write passes here.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// The disk and the name of a path, if its folder is a disk's.
fn place(path: &CStr) -> Option<(Arc<Disk>, String)> {
    let path = Path::new(OsStr::from_bytes(path.to_bytes()));
    let disk = DISKS.lock().unwrap_or_else(PoisonError::into_inner).get(path.parent()?)?.upgrade()?;
    Some((disk, path.file_name()?.to_str()?.to_owned()))
}

/// The system's file behind ours.
fn system_file(file: *mut sqlite3_file) -> *mut sqlite3_file {
    file.cast::<u8>().wrapping_add(size_of::<File>()).cast()
}

/// Calls one method of the system's file.
macro_rules! system {
    ($file:expr, $method:ident $(, $argument:expr)*) => {{
        let file = system_file($file);
        // SAFETY: SQLite hands over files that `open` has opened; the system's file lies behind ours and is open, with
        // methods that live as long as the process.
        unsafe {
            match (*file).pMethods.as_ref().and_then(|methods| methods.$method) {
                Some(method) => method(file $(, $argument)*),
                None => ffi::SQLITE_IOERR,
            }
        }
    }};
}

/// The place of an open file.
fn place_of<'a>(file: *mut sqlite3_file) -> Option<&'a mut Place> {
    // SAFETY: SQLite hands over files that `open` has opened, one call at a time per file; `close` frees the place and
    // nothing is asked of a file after that.
    unsafe { (*file.cast::<File>()).place.as_mut() }
}

unsafe extern "C" fn open(
    _vfs: *mut sqlite3_vfs,
    path: ffi::sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    let system = SYSTEM.load(Ordering::Acquire);
    let ours = file.cast::<File>();
    // SAFETY: SQLite gives `szOsFile` bytes, which is ours and the system's file together. A path is null for a file that
    // nobody names; otherwise it ends with a zero and lives as long as the file.
    unsafe {
        (*ours).base.pMethods = std::ptr::null();
        (*ours).place = std::ptr::null_mut();
        let found = if path.is_null() { None } else { place(CStr::from_ptr(path)) };
        let Some(open) = (*system).xOpen else { return ffi::SQLITE_CANTOPEN };
        let code = open(system, path, system_file(file), flags, out);
        if code != ffi::SQLITE_OK {
            // Methods that are set ask for a close even so.
            if !(*system_file(file)).pMethods.is_null() {
                close_system(file);
            }
            return code;
        }
        if let Some((disk, name)) = found {
            let made = flags & ffi::SQLITE_OPEN_CREATE != 0;
            let journals = ffi::SQLITE_OPEN_MAIN_JOURNAL | ffi::SQLITE_OPEN_SUPER_JOURNAL | ffi::SQLITE_OPEN_WAL;
            if made {
                disk.state().files.opened(&name);
            }
            let syncs_folder = made && flags & journals != 0;
            (*ours).place = Box::into_raw(Box::new(Place { disk, name, syncs_folder }));
        }
        (*ours).base.pMethods = &raw const METHODS;
    }
    ffi::SQLITE_OK
}

fn close_system(file: *mut sqlite3_file) -> c_int {
    system!(file, xClose)
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let code = close_system(file);
    let ours = file.cast::<File>();
    // SAFETY: the place is null or came from a box, and is taken out of the file, so that it is freed once.
    unsafe {
        let place = std::mem::replace(&mut (*ours).place, std::ptr::null_mut());
        if !place.is_null() {
            drop(Box::from_raw(place));
        }
    }
    code
}

unsafe extern "C" fn delete(_vfs: *mut sqlite3_vfs, path: *const c_char, sync_folder: c_int) -> c_int {
    let system = SYSTEM.load(Ordering::Acquire);
    // SAFETY: SQLite hands over a path that ends with a zero.
    let found = place(unsafe { CStr::from_ptr(path) });
    if let Some((disk, _)) = &found
        && disk.ask(Op::Delete) != Verdict::Done
    {
        return ffi::SQLITE_IOERR_DELETE;
    }
    // SAFETY: the system's VFS lives for ever, and the path is SQLite's.
    let code = unsafe {
        match (*system).xDelete {
            Some(delete) => delete(system, path, sync_folder),
            None => ffi::SQLITE_IOERR_DELETE,
        }
    };
    if let Some((disk, name)) = found
        && code == ffi::SQLITE_OK
    {
        let state = &mut *disk.state();
        state.files.deleted(&name, state.plan.left, &mut state.rng);
        if sync_folder != 0 {
            state.files.folder_synced();
        }
    }
    code
}

unsafe extern "C" fn read(file: *mut sqlite3_file, into: *mut c_void, amount: c_int, at: sqlite3_int64) -> c_int {
    if place_of(file).is_some_and(|place| place.disk.ask(Op::Read) != Verdict::Done) {
        return ffi::SQLITE_IOERR_READ;
    }
    system!(file, xRead, into, amount, at)
}

unsafe extern "C" fn write(file: *mut sqlite3_file, from: *const c_void, amount: c_int, at: sqlite3_int64) -> c_int {
    let Some(place) = place_of(file) else { return system!(file, xWrite, from, amount, at) };
    let (amount, code) = match place.disk.ask(Op::Write) {
        Verdict::Done => (amount, ffi::SQLITE_OK),
        Verdict::Half => (amount / 2, ffi::SQLITE_IOERR_WRITE),
        Verdict::Full => return ffi::SQLITE_FULL,
        Verdict::Fails => return ffi::SQLITE_IOERR_WRITE,
    };
    let written = system!(file, xWrite, from, amount, at);
    if written != ffi::SQLITE_OK {
        return written;
    }
    // SAFETY: SQLite hands over at least as many bytes as it asks to be written.
    let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), amount as usize) };
    place.disk.state().files.wrote(&place.name, at as usize, bytes);
    code
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    let place = place_of(file);
    if place.as_ref().is_some_and(|place| place.disk.ask(Op::Truncate) != Verdict::Done) {
        return ffi::SQLITE_IOERR_TRUNCATE;
    }
    let code = system!(file, xTruncate, size);
    if let Some(place) = place
        && code == ffi::SQLITE_OK
    {
        place.disk.state().files.truncated(&place.name, size as usize);
    }
    code
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    // Nothing is really synced: what is durable is in the books.
    let Some(place) = place_of(file) else { return system!(file, xSync, flags) };
    if place.disk.ask(Op::Sync) != Verdict::Done {
        return ffi::SQLITE_IOERR_FSYNC;
    }
    let state = &mut *place.disk.state();
    state.files.synced(&place.name);
    if std::mem::take(&mut place.syncs_folder) {
        state.files.folder_synced();
    }
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_size(file: *mut sqlite3_file, size: *mut sqlite3_int64) -> c_int {
    system!(file, xFileSize, size)
}

unsafe extern "C" fn lock(file: *mut sqlite3_file, level: c_int) -> c_int {
    system!(file, xLock, level)
}

unsafe extern "C" fn unlock(file: *mut sqlite3_file, level: c_int) -> c_int {
    system!(file, xUnlock, level)
}

unsafe extern "C" fn check_reserved_lock(file: *mut sqlite3_file, out: *mut c_int) -> c_int {
    system!(file, xCheckReservedLock, out)
}

unsafe extern "C" fn file_control(file: *mut sqlite3_file, op: c_int, argument: *mut c_void) -> c_int {
    system!(file, xFileControl, op, argument)
}

unsafe extern "C" fn sector_size(file: *mut sqlite3_file) -> c_int {
    system!(file, xSectorSize)
}

unsafe extern "C" fn device_characteristics(file: *mut sqlite3_file) -> c_int {
    system!(file, xDeviceCharacteristics)
}

unsafe extern "C" fn shm_map(
    file: *mut sqlite3_file,
    page: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    system!(file, xShmMap, page, size, extend, out)
}

unsafe extern "C" fn shm_lock(file: *mut sqlite3_file, offset: c_int, count: c_int, flags: c_int) -> c_int {
    system!(file, xShmLock, offset, count, flags)
}

unsafe extern "C" fn shm_barrier(file: *mut sqlite3_file) {
    let file = system_file(file);
    // SAFETY: as for every other method of the system's file.
    unsafe {
        if let Some(barrier) = (*file).pMethods.as_ref().and_then(|methods| methods.xShmBarrier) {
            barrier(file);
        }
    }
}

unsafe extern "C" fn shm_unmap(file: *mut sqlite3_file, delete: c_int) -> c_int {
    system!(file, xShmUnmap, delete)
}
