use std::fs;
use std::path::Path;

use super::write::{pack, write_atomic};
use super::{FileError, read_text};
use crate::guard::limits::FILE;

#[test]
fn reading_stops_at_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mut packed = Vec::new();
    pack(&mut packed, |out| out.write_all(&[b' '; 1000])).unwrap();
    let twice = [&packed[..], &packed[..]].concat();
    for (name, bytes, size) in
        [("plain.json", &[b' '; 1000][..], 1000), ("a.gz", &packed, 1000), ("b.gz", &twice, 2000)]
    {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        assert_eq!(read_text(&path, size).unwrap().len() as u64, size, "{name}; members count together");
        let error = read_text(&path, size - 1).unwrap_err();
        assert!(error.to_string().contains("SYNTH_MAX_FILE allows more"), "{error}");
    }
}

#[test]
fn texts_survive_plain_and_packed() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["plain.json", "packed.json.gz", "packed.GZ"] {
        let path = folder.path().join(name);
        write_atomic(&path, "größer\n".as_bytes()).unwrap();
        assert_eq!(read_text(&path, FILE).unwrap(), "größer\n", "{name}");
        let bytes = fs::read(&path).unwrap();
        write_atomic(&path, "größer\n".as_bytes()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes, "{name} is the same each time");
        assert_eq!(bytes.starts_with(&[0x1f, 0x8b]), name != "plain.json");
    }
    fs::copy(folder.path().join("packed.json.gz"), folder.path().join("misnamed.json")).unwrap();
    assert_eq!(read_text(&folder.path().join("misnamed.json"), FILE).unwrap(), "größer\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "nothing is left beside");
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        read_text(&path, FILE).unwrap_err()
    };
    assert!(matches!(at("latin1.json", b"{\n\"gr\xf6\xdfer\"}"), FileError::NotText { line: 2, .. }));
    assert!(matches!(at("damaged.json.gz", b"{}"), FileError::Unpack { .. }));
    assert!(matches!(at("cut.json", b"\x1f\x8b\x08"), FileError::Unpack { .. }));
    let missing = read_text(Path::new("no/such/file.json"), FILE).unwrap_err();
    assert!(missing.to_string().starts_with("cannot read no/such/file.json: "), "{missing}");
    let unwritable = write_atomic(Path::new("no/such/file.json"), b"").unwrap_err();
    assert!(unwritable.to_string().starts_with("cannot write no/such/file.json: "), "{unwritable}");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (plain, new, link) = (folder.path().join("plain"), folder.path().join("new"), folder.path().join("link"));
    fs::write(&plain, "").unwrap();
    write_atomic(&new, b"new").unwrap();
    assert_eq!(mode(&new), mode(&plain), "a new file is as any new file");
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&plain, &link).unwrap();
    write_atomic(&link, b"through the link").unwrap();
    assert_eq!((fs::read_to_string(&plain).unwrap().as_str(), mode(&plain)), ("through the link", 0o640));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    write_atomic(Path::new("/dev/null"), b"gone").unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}
