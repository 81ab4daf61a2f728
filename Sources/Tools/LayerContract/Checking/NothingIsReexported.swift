/// Rule 4: modules must not be re-exported, and a public import must appear in the public interface.
struct NothingIsReexported {
    private let package: CheckedPackage
    /// The types that other modules can see, by target. `topLevelTypes` has the types that all sources of the target can see.
    private let visibleTypes: [String: Set<String>]
    private let topLevelTypes: [String: Set<String>]

    init(_ package: CheckedPackage) {
        self.package = package
        var visibleTypes: [String: Set<String>] = [:]
        var topLevelTypes: [String: Set<String>] = [:]
        for source in package.sources {
            visibleTypes[source.target, default: []].formUnion(source.declarations.visibleTypes)
            topLevelTypes[source.target, default: []].formUnion(source.declarations.topLevelTypes)
        }
        self.visibleTypes = visibleTypes
        self.topLevelTypes = topLevelTypes
    }

    var findings: [Finding] {
        package.sources.flatMap { source in
            source.imports.compactMap { finding($0, in: source) }
                + source.declarations.aliases.compactMap {
                    finding($0, in: source)
                }
        }
    }

    private func finding(_ declaration: ImportDeclaration, in source: SourceFacts) -> Finding? {
        let edge = "\(source.target) → \(declaration.module)"
        let location = SourceLocation(file: source.path, line: declaration.line)
        if declaration.isExported {
            return Finding(
                rule: .nothingIsReexported,
                location: location,
                edge: edge,
                message:
                    "“\(declaration.text)” exposes \(declaration.module) to everything that imports \(source.target).",
                remedy:
                    "Remove @_exported. Targets that use \(declaration.module) must import it and declare the dependency."
            )
        }
        guard let access = declaration.access, access >= .package, !isShown(declaration.module, access, in: source)
        else {
            return nil
        }
        let level = access == .public ? "public" : "package"
        return Finding(
            rule: .nothingIsReexported,
            location: location,
            edge: edge,
            message: "“\(declaration.text)” is \(level), but no \(level) declaration of the file exposes a type of "
                + "\(declaration.module).",
            remedy: access == .public && isShown(declaration.module, .package, in: source)
                ? "Write `package import \(declaration.module)`."
                : "Write `import \(declaration.module)`, or `internal import` where imports are public by default."
        )
    }

    /// Returns whether a declaration visible at the access level may name a type of the module, as far as the source tells.
    private func isShown(_ module: String, _ access: AccessLevel, in source: SourceFacts) -> Bool {
        let levels: [AccessLevel] = access == .public ? [.public] : [.public, .package]
        if levels.contains(where: source.declarations.unsettled.contains) { return true }
        let shown = levels.reduce(into: Set<String>()) { $0.formUnion(source.declarations.shown[$1] ?? []) }
        if let target = package.target(ofModule: module) {
            return !shown.isDisjoint(with: visibleTypes[target.name] ?? []) || target.kind == .other
        }
        // The source of this module is not known, so a type that no known module declares may belong to it.
        var known = StandardLibrary.types.union(source.declarations.types).union(source.declarations.parameters).union(
            topLevelTypes[source.target] ?? []
        )
        for other in source.imports {
            if let target = package.target(ofModule: other.module) { known.formUnion(visibleTypes[target.name] ?? []) }
        }
        return !shown.subtracting(known).isEmpty
    }

    /// Returns the finding for a file-level alias that exposes another ring's type under a name of this ring.
    private func finding(_ alias: Declarations.Alias, in source: SourceFacts) -> Finding? {
        guard let target = package.targets[source.target], let used = aliased(alias, in: source),
            let edge = package.edge(from: target, to: used), edge.source != edge.destination
        else { return nil }
        return Finding(
            rule: .nothingIsReexported,
            location: SourceLocation(file: source.path, line: alias.line),
            edge: "\(target.name) → \(used.name)",
            message:
                "The alias \(alias.name) exposes \(alias.aliased.joined(separator: ".")) of \(used.name) to everything that "
                + "imports \(target.name).",
            remedy: "Remove the alias or make it internal. Sources that use the type must import \(used.name)."
        )
    }

    private func aliased(_ alias: Declarations.Alias, in source: SourceFacts) -> TargetDescription? {
        guard let first = alias.aliased.first else { return nil }
        let imported = source.imports.compactMap { package.target(ofModule: $0.module) }
        if alias.aliased.count > 1, let named = imported.first(where: { $0.moduleName == first }) { return named }
        guard topLevelTypes[source.target]?.contains(first) != true || alias.name == first else { return nil }
        return imported.first { visibleTypes[$0.name]?.contains(first) == true }
    }
}

/// The names of the standard library, which every source imports implicitly.
///
/// A missing name makes the check more lenient. Names that other modules also use are left out on purpose: a `Span` in an
/// interface may be a tracer's.
enum StandardLibrary {
    /// The types of Swift 6.2, and the keywords that stand for types.
    static let types: Set<String> = Set(
        """
        Actor AdditiveArithmetic Any AnyActor AnyBidirectionalCollection AnyClass AnyCollection AnyHashable
        AnyIndex AnyIterator AnyKeyPath AnyObject AnyRandomAccessCollection AnyRegexOutput AnySequence Array
        ArraySlice AsyncCompactMapSequence AsyncDropFirstSequence AsyncDropWhileSequence AsyncFilterSequence
        AsyncFlatMapSequence AsyncIteratorProtocol AsyncMapSequence AsyncPrefixSequence AsyncPrefixWhileSequence
        AsyncSequence AsyncStream AsyncThrowingCompactMapSequence AsyncThrowingDropWhileSequence
        AsyncThrowingFilterSequence AsyncThrowingFlatMapSequence AsyncThrowingMapSequence
        AsyncThrowingPrefixWhileSequence AsyncThrowingStream BidirectionalCollection BidirectionalSlice
        BinaryFloatingPoint BinaryInteger BitwiseCopyable Bool BooleanLiteralType CBool CChar CChar16 CChar32
        CChar8 CDouble CFloat CFloat16 CInt CLong CLongDouble CLongLong CShort CSignedChar CUnsignedChar
        CUnsignedInt CUnsignedLong CUnsignedLongLong CUnsignedShort CVaListPointer CVarArg CWideChar
        CancellationError CaseIterable Character CheckedContinuation Clock ClosedRange ClosedRangeIndex Codable
        CodingKey CodingKeyRepresentable CodingUserInfoKey Collection CollectionDifference CollectionOfOne
        CommandLine Comparable ConcurrentValue ContiguousArray ContinuousClock Copyable
        CustomConsumingRegexComponent CustomDebugStringConvertible CustomLeafReflectable
        CustomPlaygroundDisplayConvertible CustomPlaygroundQuickLookable CustomReflectable
        CustomStringConvertible Decodable Decoder DecodingError Dictionary DictionaryIndex DictionaryIterator
        DictionaryLiteral DiscardingTaskGroup DiscontiguousSlice Double DropFirstSequence DropWhileSequence
        Duration DurationProtocol EmptyCollection EmptyIterator Encodable Encoder EncodingError
        EnumeratedIterator EnumeratedSequence Equatable Error Escapable ExecutorJob ExpressibleByArrayLiteral
        ExpressibleByBooleanLiteral ExpressibleByDictionaryLiteral ExpressibleByExtendedGraphemeClusterLiteral
        ExpressibleByFloatLiteral ExpressibleByIntegerLiteral ExpressibleByNilLiteral
        ExpressibleByStringInterpolation ExpressibleByStringLiteral ExpressibleByUnicodeScalarLiteral
        ExtendedGraphemeClusterType FixedWidthInteger Float Float16 Float32 Float64 Float80 FloatLiteralType
        FloatingPoint FloatingPointClassification FloatingPointRoundingRule FloatingPointSign GlobalActor
        Hashable Hasher Identifiable IndexingIterator InlineArray InstantProtocol Int Int128 Int16 Int32 Int64
        Int8 IntegerLiteralType IteratorOverOne IteratorProtocol IteratorSequence Job JobPriority JoinedIterator
        JoinedSequence KeyPath KeyValuePairs KeyedDecodingContainer KeyedDecodingContainerProtocol
        KeyedEncodingContainer KeyedEncodingContainerProtocol LazyCollection LazySequence
        LosslessStringConvertible MainActor ManagedBuffer ManagedBufferPointer MemoryLayout MirrorPath
        MutableCollection Never Numeric ObjectIdentifier OpaquePointer OptionSet Optional PartialAsyncTask
        PartialKeyPath PartialRangeFrom PartialRangeThrough PartialRangeUpTo PrefixSequence
        RandomAccessCollection RandomAccessSlice RandomNumberGenerator Range RangeExpression
        RangeReplaceableCollection RangeSet RawRepresentable ReferenceWritableKeyPath RegexComponent
        RegexRepetitionBehavior RegexSemanticLevel RegexWordBoundaryKind Repeated Result ReversedCollection
        ReversedIndex ReversedRandomAccessCollection SIMD SIMD16 SIMD2 SIMD3 SIMD32 SIMD4 SIMD64 SIMD8 SIMDMask
        SIMDScalar SIMDStorage Self Sendable SendableMetatype Sequence SerialExecutor Set SetAlgebra SetIndex
        SetIterator SignedInteger SignedNumeric SingleValueDecodingContainer SingleValueEncodingContainer
        StaticBigInt StaticString StrideThrough StrideThroughIterator StrideTo StrideToIterator Strideable
        String StringInterpolationProtocol StringLiteralType StringProtocol Substring SuspendingClock
        SystemRandomNumberGenerator Task TaskExecutor TaskGroup TaskLocal TaskPriority TextOutputStream
        TextOutputStreamable ThrowingDiscardingTaskGroup ThrowingTaskGroup UInt UInt128 UInt16 UInt32 UInt64
        UInt8 UTF16 UTF32 UTF8 UTF8Span UnboundedRange UnboundedRange_ UnfoldFirstSequence UnfoldSequence
        Unicode UnicodeCodec UnicodeDecodingResult UnicodeScalar UnicodeScalarType UnkeyedDecodingContainer
        UnkeyedEncodingContainer Unmanaged UnownedJob UnownedSerialExecutor UnownedTaskExecutor
        UnsafeBufferPointer UnsafeContinuation UnsafeMutableBufferPointer UnsafeMutablePointer
        UnsafeMutableRawBufferPointer UnsafeMutableRawPointer UnsafePointer UnsafeRawBufferPointer
        UnsafeRawPointer UnsignedInteger Void WritableKeyPath Zip2Iterator Zip2Sequence
        """.words
    )
}
