/// The headers that ship with the compiler and the platform.
enum SystemHeaders {
    /// The modules of the platforms' C libraries.
    static let platformModules = ["Glibc", "Musl", "Darwin", "Android", "Bionic", "ucrt", "WinSDK", "WASILibc"]

    /// The permission for headers of the platform's C library, as a label spells it.
    static let platform = [
        SystemModule("Glibc"), SystemModule("Musl", inPlaceOf: "Glibc"), SystemModule("Darwin", inPlaceOf: "Glibc"),
    ]

    /// Returns whether both names refer to the same module. The comparison ignores case, because header folders are
    /// lowercase, and treats all platforms' C libraries as one module.
    static func isSame(_ one: String, _ other: String) -> Bool {
        one.lowercased() == other.lowercased() || platformModules.contains(one) && platformModules.contains(other)
    }

    /// Returns whether a header belongs to the C or C++ standard library or to the compiler. These need no permission.
    static func isStandard(_ header: String) -> Bool {
        standard.contains(header) || !header.contains("/") && compilerEndings.contains(where: header.hasSuffix)
    }

    /// Returns whether a header belongs to the platform's C library: POSIX, the kernel, or Windows.
    static func isOfPlatform(_ header: String) -> Bool {
        guard let slash = header.firstIndex(of: "/") else { return platformHeaders.contains(header) }
        return platformFolders.contains(String(header[..<slash]))
    }

    /// The name endings of the compiler's processor-specific headers.
    private static let compilerEndings = ["intrin.h", "arm_neon.h", "arm_acle.h", "wasm_simd128.h", "cpuid.h"]

    private static let standard: Set<String> = Set(
        """
        assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h iso646.h limits.h locale.h math.h setjmp.h signal.h
        stdalign.h stdarg.h stdatomic.h stdbit.h stdbool.h stdckdint.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h
        string.h tgmath.h threads.h time.h uchar.h wchar.h wctype.h
        algorithm any array atomic barrier bit bitset cassert ccomplex cctype cerrno cfenv cfloat charconv chrono cinttypes
        ciso646 climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal
        cstdalign cstdarg cstdbool cstddef cstdint cstdio cstdlib cstring ctgmath ctime cuchar cwchar cwctype deque
        exception execution expected filesystem flat_map flat_set format forward_list fstream functional future generator
        initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map mdspan memory
        memory_resource mutex new numbers numeric optional ostream print queue random ranges ratio regex scoped_allocator
        semaphore set shared_mutex source_location span spanstream sstream stack stacktrace stdexcept stdfloat stop_token
        streambuf string string_view strstream syncstream system_error thread tuple type_traits typeindex typeinfo
        unordered_map unordered_set utility valarray variant vector version
        Availability.h AvailabilityMacros.h TargetConditionals.h ptrauth.h ptrcheck.h lifetimebound.h unwind.h
        sanitizer/asan_interface.h sanitizer/tsan_interface.h swift/bridging
        """.words
    )

    private static let platformHeaders: Set<String> = Set(
        """
        aio.h alloca.h byteswap.h copyfile.h cpio.h crypt.h dirent.h dlfcn.h elf.h endian.h err.h execinfo.h fcntl.h
        features.h fmtmsg.h fnmatch.h fts.h ftw.h getopt.h glob.h grp.h iconv.h ifaddrs.h io.h langinfo.h libgen.h libproc.h
        libutil.h link.h malloc.h memory.h mntent.h monetary.h mqueue.h ndbm.h netdb.h nl_types.h notify.h paths.h
        poll.h process.h pthread.h pty.h pwd.h regex.h removefile.h resolv.h sandbox.h sched.h search.h semaphore.h shadow.h
        spawn.h strings.h stropts.h sysexits.h syslog.h tar.h termios.h ucontext.h ulimit.h unistd.h util.h utime.h
        utmp.h utmpx.h winsock2.h ws2tcpip.h windows.h Windows.h WinSock2.h WS2tcpip.h wordexp.h xlocale.h
        """.words
    )

    private static let platformFolders: Set<String> = [
        "arpa", "asm", "asm-generic", "bits", "bsm", "gnu", "i386", "libkern", "linux", "mach", "mach-o", "machine",
        "malloc", "net", "netinet", "netinet6", "netpacket", "pthread", "rpc", "sys",
    ]
}
