/// The origins of the headers that the C sources of a package include.
struct HeaderIndex: Sendable {
    /// The origin of a header outside its own target and the C standard library.
    enum Origin: Hashable, Sendable {
        /// Another target of the package.
        case target(String)
        /// Any other module, with the name that the header's path suggests: `curl` for `curl/curl.h`.
        case module(String)
        /// Unknown, because the include names a macro.
        case macro
    }

    /// An include that needs a permission.
    struct Use: Sendable {
        let include: IncludeDirective
        let location: SourceLocation
        let origin: Origin
    }

    /// The includes that need a permission, by target name.
    private(set) var uses: [String: [Use]] = [:]
    /// The lowercase names of the modules whose headers each target includes. The C libraries of all platforms count as the
    /// same module.
    private(set) var modules: [String: Set<String>] = [:]

    private let targets: [TargetDescription]
    /// The non-Swift sources and headers, by path.
    private var files: [String: SourceFacts] = [:]
    private var libraries: [SystemLibrary] = []

    init(_ targets: [TargetDescription], _ sources: [SourceFacts]) {
        self.targets = targets
        files = Dictionary(sources.filter { !$0.path.hasSuffix(".swift") }.map { ($0.path, $0) }) { first, _ in first }
        guard !files.isEmpty else { return }
        let filesOfTargets = Dictionary(grouping: files.values, by: \.target)
        for target in targets where target.language == .moduleMap {
            libraries.append(SystemLibrary(target, filesOfTargets[target.name] ?? []))
        }
        for target in targets where target.language == .c { read(target, filesOfTargets[target.name] ?? []) }
    }

    /// Returns the modules whose headers a target includes and that need a permission.
    func foreignIncludes(of target: TargetDescription) -> [String] {
        (uses[target.name] ?? []).compactMap { if case .module(let module) = $0.origin { module } else { nil } }
    }

    // MARK: Includes

    /// Follows a target's includes from its sources, public headers, and module maps to its other headers. Headers that no file
    /// includes are skipped, because they are not compiled.
    private mutating func read(_ target: TargetDescription, _ own: [SourceFacts]) {
        let roots = Set(target.sources.map { Self.path($0, in: target.path) })
        let publicHeaders = Self.path(target.publicHeaders, in: target.path) + "/"
        var waiting = own.filter {
            roots.contains($0.path) || $0.path.hasPrefix(publicHeaders) || $0.path.hasSuffix(".modulemap")
        }
        var seen = Set(waiting.map(\.path))
        while let source = waiting.popLast() {
            for include in source.includes {
                if let path = file(include, in: source, of: target), let file = files[path], file.target == target.name
                {
                    if seen.insert(path).inserted { waiting.append(file) }
                } else if let origin = origin(of: include, in: source, of: target) {
                    let location = SourceLocation(file: source.path, line: include.line)
                    uses[target.name, default: []].append(Use(include: include, location: location, origin: origin))
                }
            }
        }
        for module in foreignIncludes(of: target) {
            let names = SystemHeaders.platformModules.contains(module) ? SystemHeaders.platformModules : [module]
            modules[target.name, default: []].formUnion(names.map { $0.lowercased() })
        }
    }

    /// Returns the origin of an include outside the target's own files, or `nil` for the standard library and the target's module.
    private func origin(of include: IncludeDirective, in source: SourceFacts, of target: TargetDescription) -> Origin? {
        let header = include.header
        switch include.form {
        case .macro:
            return .macro
        case .module:
            if header == target.moduleName { return nil }
            return targets.first { $0.moduleName == header }.map { .target($0.name) }
                ?? .module(Self.platformName(header))
        case .quoted, .angled:
            if let path = file(include, in: source, of: target), let file = files[path] { return .target(file.target) }
            // The compiler generates this header for other languages.
            if header.hasSuffix("-Swift.h"), let module = header.split(separator: "/").last?.dropLast("-Swift.h".count),
                let used = targets.first(where: { $0.moduleName == module })
            {
                return .target(used.name)
            }
            if SystemHeaders.isStandard(header) { return nil }
            if SystemHeaders.isOfPlatform(header) { return .module(SystemHeaders.platformModules[0]) }
            let module = Self.module(ofHeader: header)
            if let used = targets.first(where: { $0.moduleName == module && $0.name != target.name }) {
                return .target(used.name)
            }
            let found = libraries.filter { $0.has(header) }
            let declared = found.first { target.dependencies.contains(.target($0.name)) }
            return (declared ?? found.first).map { .target($0.name) } ?? .module(module)
        }
    }

    /// Returns the package file that an include resolves to, using the folders that SwiftPM searches for the target.
    private func file(_ include: IncludeDirective, in source: SourceFacts, of target: TargetDescription) -> String? {
        guard include.form == .quoted || include.form == .angled else { return nil }
        var folders: [String] = []
        if include.form == .quoted {
            folders.append(source.path.split(separator: "/").dropLast().joined(separator: "/"))
        }
        folders.append(Self.path(target.publicHeaders, in: target.path))
        for setting in target.settings {
            if case .headerSearchPath(let path) = setting.kind { folders.append(Self.path(path, in: target.path)) }
        }
        // Declared dependencies are searched before other targets.
        let others = targets.filter { $0.language == .c && $0.name != target.name }
        let declared = others.filter { target.dependencies.contains(.target($0.name)) }
        folders += (declared + others).map { Self.path($0.publicHeaders, in: $0.path) }
        return folders.lazy.map { Self.path(include.header, in: $0) }.first { files[$0] != nil }
    }

    // MARK: Names

    /// Returns a path relative to a folder, with `.` and `..` resolved.
    static func path(_ path: String, in folder: String) -> String {
        var parts: [Substring] = path.hasPrefix("/") ? [""] : folder.split(separator: "/")
        for part in path.split(separator: "/") where part != "." {
            if part == "..", !parts.isEmpty, parts.last != ".." { parts.removeLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }

    /// Returns the header's folder, or its name without the extension: `curl` for `curl/curl.h`, `zlib` for `zlib.h`.
    static func module(ofHeader header: String) -> String {
        let first = header.split(separator: "/").first.map(String.init) ?? header
        let name = header.contains("/") ? first : String(first.prefix { $0 != "." })
        return name == "objc" ? "ObjectiveC" : platformName(name)
    }

    private static func platformName(_ module: String) -> String {
        SystemHeaders.platformModules.contains(module) ? SystemHeaders.platformModules[0] : module
    }
}

/// The header names of a system library, derived from its module map and the manifest.
struct SystemLibrary: Sendable {
    let name: String
    /// The headers that its module map names and its own headers include.
    private let headers: [String]
    /// The lowercase names of header folders, or of headers themselves.
    private let names: Set<String>

    init(_ target: TargetDescription, _ files: [SourceFacts]) {
        name = target.name
        headers = files.flatMap { $0.includes.map(\.header) }
        let included = files.filter { !$0.path.hasSuffix(".modulemap") }.flatMap { $0.includes.map(\.header) }
            .filter { !SystemHeaders.isStandard($0) && !SystemHeaders.isOfPlatform($0) }
        names = Set(target.libraryNames.map(Self.plainName))
            .union(files.flatMap { $0.moduleMapLinks.map { $0.name.lowercased() } })
            .union(included.map { HeaderIndex.module(ofHeader: $0).lowercased() })
    }

    /// Returns whether a header belongs to the library.
    func has(_ header: String) -> Bool {
        names.contains(HeaderIndex.module(ofHeader: header).lowercased())
            || headers.contains { $0 == header || $0.hasSuffix("/\(header)") }
    }

    /// Returns the plain name: `vips` for `libvips-dev`, `gobject` for `gobject-2.0`, `openssl` for `openssl@3`.
    private static func plainName(_ package: String) -> String {
        var name = package.lowercased().prefix { $0 != "@" }
        if name.hasPrefix("lib") { name = name.dropFirst(3) }
        for ending in ["-devel", "-dev"] where name.hasSuffix(ending) { name = name.dropLast(ending.count) }
        if let dash = name.lastIndex(of: "-"), name[dash...].dropFirst().allSatisfy({ $0.isNumber || $0 == "." }) {
            name = name[..<dash]
        }
        return String(name)
    }
}

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
