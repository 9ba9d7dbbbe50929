//! The code that a moved process runs instead of its vDSO's functions.
//!
//! Two pages are mapped into the process: this code, and a page of data with the offset. Being in our own text only to
//! be copied, the code refers to nothing but its own data page. It asks the kernel for the true time and adds the
//! offset, one 64-bit number, so that changing it needs neither a lock nor a stop. It uses no stack, and no registers
//! but those that the System V ABI leaves to a callee.
//!
//! Only CLOCK_REALTIME (0) and CLOCK_REALTIME_COARSE (5) move. System calls by number, <asm/unistd_64.h>: gettimeofday
//! 96, clock_gettime 228.

use std::{arch::global_asm, slice};

/// Bytes of one page.
pub const PAGE: u64 = 4096;
/// Where in the two pages the mark is, by which they are recognised.
pub const MARK_AT: u64 = PAGE;
/// Where in the two pages the offset in nanoseconds is.
pub const OFFSET_AT: u64 = PAGE + 8;
/// Where in the two pages a called function may write its result: 32 bytes.
pub const RESULT_AT: u64 = PAGE + 64;
/// Top of a stack for a called function, within the two pages.
pub const STACK_AT: u64 = 2 * PAGE - 64;
/// The mark.
pub const MARK: [u8; 8] = *b"fencepos";

global_asm!(
    ".pushsection .text.fencepost_payload, \"ax\", @progbits",
    ".globl fencepost_payload, fencepost_payload_gettimeofday, fencepost_payload_time, fencepost_payload_end",
    ".balign 16",
    // int clock_gettime(clockid_t id, struct timespec *ts)
    "fencepost_payload:",
    "    mov eax, 228",
    "    syscall",
    "    test eax, eax",
    "    jnz 3f",
    "    test edi, edi",
    "    jz 2f",
    "    cmp edi, 5",
    "    jne 3f",
    "2:  imul rax, qword ptr [rsi], 1000000000",
    "    add rax, qword ptr [rsi + 8]",
    "    add rax, qword ptr [rip + fencepost_payload + {offset}]",
    "    cqo",
    "    mov ecx, 1000000000",
    "    idiv rcx",
    "    mov qword ptr [rsi], rax",
    "    mov qword ptr [rsi + 8], rdx",
    "    xor eax, eax",
    "3:  ret",
    // int gettimeofday(struct timeval *tv, struct timezone *tz)
    "fencepost_payload_gettimeofday:",
    "    mov eax, 96",
    "    syscall",
    "    test eax, eax",
    "    jnz 3f",
    "    test rdi, rdi",
    "    jz 3f",
    "    mov rax, qword ptr [rip + fencepost_payload + {offset}]",
    "    cqo",
    "    mov ecx, 1000",
    "    idiv rcx",
    "    imul rcx, qword ptr [rdi], 1000000",
    "    add rax, rcx",
    "    add rax, qword ptr [rdi + 8]",
    "    cqo",
    "    mov ecx, 1000000",
    "    idiv rcx",
    "    mov qword ptr [rdi], rax",
    "    mov qword ptr [rdi + 8], rdx",
    "    xor eax, eax",
    "3:  ret",
    // time_t time(time_t *t): the seconds of CLOCK_REALTIME_COARSE, read into the red zone below the stack
    "fencepost_payload_time:",
    "    mov r8, rdi",
    "    mov edi, 5",
    "    lea rsi, [rsp - 16]",
    "    mov eax, 228",
    "    syscall",
    "    imul rax, qword ptr [rsi], 1000000000",
    "    add rax, qword ptr [rsi + 8]",
    "    add rax, qword ptr [rip + fencepost_payload + {offset}]",
    "    cqo",
    "    mov ecx, 1000000000",
    "    idiv rcx",
    "    test r8, r8",
    "    jz 3f",
    "    mov qword ptr [r8], rax",
    "3:  ret",
    "fencepost_payload_end:",
    ".popsection",
    offset = const OFFSET_AT,
);

unsafe extern "C" {
    #[link_name = "fencepost_payload"]
    static BEGIN: u8;
    #[link_name = "fencepost_payload_gettimeofday"]
    static GETTIMEOFDAY: u8;
    #[link_name = "fencepost_payload_time"]
    static TIME: u8;
    #[link_name = "fencepost_payload_end"]
    static END: u8;
}

/// The code, to be copied to the first page.
pub fn code() -> &'static [u8] {
    // SAFETY: both labels are in one section, in this order, and code is readable.
    unsafe { slice::from_raw_parts(&raw const BEGIN, (&raw const END).addr() - (&raw const BEGIN).addr()) }
}

/// The vDSO's functions that are replaced, each with where in [`code`] its replacement begins.
pub fn replacements() -> [(&'static str, u64); 3] {
    let at = |label: *const u8| (label.addr() - (&raw const BEGIN).addr()) as u64;
    [
        ("__vdso_clock_gettime", 0),
        ("__vdso_gettimeofday", at(&raw const GETTIMEOFDAY)),
        ("__vdso_time", at(&raw const TIME)),
    ]
}

/// Bytes of a [`jump`].
pub const JUMP: u64 = 12;

/// `mov rax, address; jmp rax`, which reaches everywhere.
pub fn jump(address: u64) -> [u8; JUMP as usize] {
    let mut bytes = [0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0];
    bytes[2..10].copy_from_slice(&address.to_le_bytes());
    bytes
}

/// Where a [`jump`] leads; `None` for other code.
pub fn jump_target(code: [u8; JUMP as usize]) -> Option<u64> {
    let [0x48, 0xb8, a, b, c, d, e, f, g, h, 0xff, 0xe0] = code else { return None };
    Some(u64::from_le_bytes([a, b, c, d, e, f, g, h]))
}

#[cfg(test)]
mod tests {
    use nix::libc;

    use super::*;

    /// The two pages as in a moved process, here in this one, where nobody but the test calls them.
    struct Pages(*mut u8);

    impl Pages {
        fn new(offset_ns: i64) -> Pages {
            let access = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            // SAFETY: new pages, large enough for both writes.
            unsafe {
                let pages =
                    libc::mmap(std::ptr::null_mut(), 2 * PAGE as usize, access, flags, -1, 0).cast::<u8>();
                assert_ne!(pages.cast(), libc::MAP_FAILED);
                std::ptr::copy_nonoverlapping(code().as_ptr(), pages, code().len());
                pages.add(OFFSET_AT as usize).cast::<i64>().write(offset_ns);
                Pages(pages)
            }
        }

        fn clock_gettime(&self, clock: libc::clockid_t) -> i64 {
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: the code has this signature.
            let result = unsafe {
                let call: extern "C" fn(libc::clockid_t, *mut libc::timespec) -> i32 =
                    std::mem::transmute(self.0);
                call(clock, &raw mut time)
            };
            assert_eq!(result, 0);
            assert!((0..1_000_000_000).contains(&time.tv_nsec));
            time.tv_sec * 1_000_000_000 + time.tv_nsec
        }

        fn gettimeofday(&self) -> i64 {
            let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
            // SAFETY: the code has this signature.
            let result = unsafe {
                let address = self.0.add(replacements()[1].1 as usize);
                let call: extern "C" fn(*mut libc::timeval, usize) -> i32 = std::mem::transmute(address);
                call(&raw mut time, 0)
            };
            assert_eq!(result, 0);
            assert!((0..1_000_000).contains(&time.tv_usec));
            (time.tv_sec * 1_000_000 + time.tv_usec) * 1000
        }

        fn time(&self) -> i64 {
            let mut stored = 0;
            // SAFETY: the code has this signature.
            let returned = unsafe {
                let address = self.0.add(replacements()[2].1 as usize);
                let call: extern "C" fn(*mut i64) -> i64 = std::mem::transmute(address);
                assert_eq!(call(std::ptr::null_mut()), call(&raw mut stored));
                call(&raw mut stored)
            };
            assert_eq!(returned, stored);
            returned * 1_000_000_000
        }
    }

    fn true_time(clock: libc::clockid_t) -> i64 {
        let time = nix::time::clock_gettime(clock.into()).unwrap();
        time.tv_sec() * 1_000_000_000 + time.tv_nsec()
    }

    #[test]
    fn moves_the_wall_clock_only() {
        for offset_ns in [0, 3_000_000_000, -2_500_000_000, 999_999_999, -86_400_000_000_000] {
            let pages = Pages::new(offset_ns);
            let near = |read: i64, clock, moved: i64, within: i64| {
                let off = read - true_time(clock) - moved;
                assert!(off.abs() < within, "{off} ns off on clock {clock} with offset {offset_ns}");
            };
            let second = 1_000_000_000;
            near(pages.clock_gettime(libc::CLOCK_REALTIME), libc::CLOCK_REALTIME, offset_ns, second / 5);
            near(
                pages.clock_gettime(libc::CLOCK_REALTIME_COARSE),
                libc::CLOCK_REALTIME,
                offset_ns,
                second / 5,
            );
            near(pages.clock_gettime(libc::CLOCK_MONOTONIC), libc::CLOCK_MONOTONIC, 0, second / 5);
            near(pages.clock_gettime(libc::CLOCK_BOOTTIME), libc::CLOCK_BOOTTIME, 0, second / 5);
            near(pages.gettimeofday(), libc::CLOCK_REALTIME, offset_ns, second / 5);
            near(pages.time(), libc::CLOCK_REALTIME, offset_ns, second + second / 5);
        }
    }

    #[test]
    fn jumps_read_back() {
        assert_eq!(jump_target(jump(0x7fff_1234_5678)), Some(0x7fff_1234_5678));
        assert_eq!(jump_target([0x90; 12]), None);
    }
}
