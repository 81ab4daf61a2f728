import Foundation
import InwardFetching
import InwardFileStores
import InwardTransfers
import InwardURLSession
import Soaking

/// The measurement of a transfer.
struct Measurement {
    let name: String
    let byteCount: Int
    let duration: Duration
    let peak: Double

    var line: String {
        let mebibytes = Double(byteCount) / 1_048_576
        let speed = Int(mebibytes / (duration / .seconds(1)))
        return "\(name), \(Int(mebibytes)) MiB: peak memory \(Int(peak.rounded())) MiB, \(speed) MiB/s"
    }
}

/// Runs a transfer, and samples the memory after each chunk and every few milliseconds.
func measure(_ name: String, _ byteCount: Int, _ transfer: TransferData) async throws -> Measurement {
    // Samples between chunks too, because a saver reads everything back at the end. The task ends when it is cancelled below.
    let looking = Task {
        var peak = 0.0
        while !Task.isCancelled {
            peak = max(peak, residentMemory() ?? 0)
            try? await Task.sleep(for: .milliseconds(5))
        }
        return peak
    }
    var peak = 0.0
    let start = ContinuousClock.now
    let report = try await transfer { _ in peak = max(peak, residentMemory() ?? 0) }
    let duration = start.duration(to: .now)
    looking.cancel()
    guard report.savedByteCount == byteCount else {
        say("\(name) saved only \(report.savedByteCount) of \(byteCount) bytes.")
        exit(1)
    }
    return Measurement(name: name, byteCount: byteCount, duration: duration, peak: max(peak, await looking.value))
}

// Exits with status 1 if a large transfer needs much more memory than a small one: more than a few chunks, and the memory that
// the allocator caches for each thread.
let tolerance = 2 * MemorySeries.tolerance.size
let directory = FileManager.default.temporaryDirectory.appending(path: "inward-transfers-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: directory) }
let (source, target) = (directory.appending(path: "source"), directory.appending(path: "target"))
let url = CommandLine.arguments.dropFirst().first.flatMap { URL(string: $0) }
var findings: [String] = []
for name in ["file to file", "ranges to file", "file to parts"] + (url == nil ? [] : ["network to file"]) {
    var measurements: [Measurement] = []
    for mebibytes in [1, 100, 1_024] {
        let byteCount = mebibytes * 1_048_576
        try Data().write(to: source)
        let handle = try FileHandle(forWritingTo: source)
        try handle.truncate(atOffset: UInt64(byteCount))
        try handle.close()
        let ranges = RangesDataFetcher(byteCount: byteCount)
        let address = url?.appending(path: "\(mebibytes)") ?? source
        let transfer =
            switch name {
            case "file to file":
                TransferData(from: FileDataLoader(file: source), to: FileDataSaver(file: target))
            case "ranges to file":
                TransferData(
                    from: FetchingDataLoader(url: address, dataFetcher: ranges),
                    to: FileDataSaver(file: target)
                )
            case "file to parts":
                TransferData(
                    from: FileDataLoader(file: source),
                    to: PuttingDataSaver(url: address, dataFetcher: PartsDataFetcher())
                )
            default:
                TransferData(
                    from: FetchingDataLoader(url: address, dataFetcher: URLSessionDataFetcher()),
                    to: FileDataSaver(file: target)
                )
            }
        measurements.append(try await measure(name, byteCount, transfer))
        say(measurements[measurements.count - 1].line)
        try? FileManager.default.removeItem(at: target)
        try? FileManager.default.removeItem(at: source)
    }
    let growth = measurements[measurements.count - 1].peak - measurements[0].peak
    if growth > tolerance { findings.append("\(name): memory grows by \(Int(growth)) MiB.") }
}
for finding in findings { say(finding) }
if findings.isEmpty { say("No problems found.") }
exit(findings.isEmpty ? 0 : 1)
