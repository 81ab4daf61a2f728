@testable import InwardImageCodecs

/// The maximum number of bytes that an input may inflate to here.
private let maximumCount = 1 << 22

/// Inflates bytes as raw deflate data, both whole and in small pieces, and checks that the results are equal.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    let whole = Inflation(of: bytes, piece: .max)
    guard bytes.count <= 65_536, whole.output.count <= 65_536 else { return 0 }
    precondition(Inflation(of: bytes, piece: 1) == whole)
    precondition(Inflation(of: bytes, piece: 29) == whole)
    return 0
}

private struct Inflation: Equatable {
    enum Ending: Equatable {
        case finished
        case starved
        case full
        case failed(InflateError)
    }

    private(set) var output: [UInt8] = []
    private(set) var ending = Ending.starved

    /// Inflates bytes that are passed in pieces.
    init(of bytes: [UInt8], piece: Int) {
        var inflater = Inflater(count: maximumCount, piece: 64)
        var position = 0
        var end = min(piece, bytes.count)
        while true {
            let pause: Inflater.Pause
            do throws(InflateError) {
                pause = try inflater.inflate(bytes.span, &position, through: end)
            } catch {
                takeOutput(of: &inflater)
                ending = .failed(error)
                return
            }
            let available = inflater.available
            takeOutput(of: &inflater)
            switch pause {
            case .finished:
                ending = .finished
                return
            case .full:
                guard available > 0 else {
                    ending = .full
                    return
                }
                inflater.makeRoom()
            case .starved:
                guard end < bytes.count else { return }
                end = min(end + piece, bytes.count)
            }
        }
    }

    private mutating func takeOutput(of inflater: inout Inflater) {
        output += inflater.window[inflater.start..<inflater.end]
        inflater.start = inflater.end
    }
}
