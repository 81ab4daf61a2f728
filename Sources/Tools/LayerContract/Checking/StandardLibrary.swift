/// Names that belong to the standard library, which every source imports by itself.
///
/// A name that is missing here makes the check more lenient. Names that other modules use as well are left out on purpose:
/// who shows a `Span` may show a tracer's.
enum StandardLibrary {
    /// Types of Swift 6.2, and what stands for a type in every source.
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
