import InwardRepositories

@testable import InwardFileStores
@testable import InwardRecordDirectories

/// Reads bytes as the contents of a record store's file. The first byte selects the check.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    guard let first = bytes.first else { return 0 }
    let rest = Array(bytes.dropFirst())
    switch first % 5 {
    case 0: open(rest)
    case 1: open(repaired(rest))
    case 2: checkDamage(rest, of: first & 0x80 == 0 ? KnownLog.written : KnownLog.rewritten)
    case 3: checkCoding(rest)
    default: checkIndex(rest)
    }
    return 0
}

/// Opens a log with arbitrary contents.
private func open(_ log: [UInt8]) {
    let directory = LogDirectory(log)
    do throws(RecordStoreError) {
        let contents = try directory.opened().contents()
        checkUse(of: directory, with: contents)
    } catch {
        // A newer version of the program wrote the log, so it is not changed.
        precondition(error.reason == .unavailable && directory.log == log)
    }
}

/// Returns the bytes with the log's header, and the positions and checksums of all heads corrected, because the fuzzer does not
/// find them.
private func repaired(_ bytes: [UInt8]) -> [UInt8] {
    var log = RecordLogHeader.bytes() + bytes
    var position = RecordLogHeader.length
    while position + RecordFrame.prefixLength <= log.count {
        let head = log[position..<position + RecordFrame.prefixLength]
        guard let prefix = RecordFramePrefix(head) else {
            position += 1
            continue
        }
        let start = position + RecordFrame.prefixLength
        let length = min(prefix.operationsLength, log.count - start)
        let right = RecordFramePrefix(
            prefix.mark,
            offset: prefix.mark == .head ? position : max(0, position - start + position - length - prefix.bodyLength),
            operations: Array(log[start..<start + length]),
            bodyLength: prefix.bodyLength
        )
        log.replaceSubrange(position..<start, with: right.bytes)
        position = start
    }
    return log
}
