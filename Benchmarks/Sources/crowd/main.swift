import Foundation
import InwardImageCodecs
import InwardImages

/// Loads a hundred large images at once within a budget. Prints the time, and the peak memory of the process.
@concurrent func measure(_ file: URL, budget megabytes: Int, isReduced: Bool) async {
    let budget = DecodingBudget(bytes: megabytes * 1_024 * 1_024)
    var loader = ImageLoader(source: FileImageSource(file: file), codec: SwiftImageCodec(), budget: budget)
    // The codec decodes a reduced image only if the first plugin allows it. A crop does not, so images are decoded at full
    // size.
    if !isReduced { loader.addPlugin(Crop(to: ImageSize(clamping: 4_000, 3_000), at: .center)) }
    loader.addPlugin(Resize(width: 720, height: 588))
    let clock = ContinuousClock()
    let start = clock.now
    let failures = await withTaskGroup(of: Bool.self) { [loader] group in
        for number in 0..<100 {
            group.addTask {
                if case .success = await loader.load(ImageAddress("\(number)")).result { return false }
                return true
            }
        }
        return await group.reduce(0) { $1 ? $0 + 1 : $0 }
    }
    let seconds = start.duration(to: clock.now) / .seconds(1)
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? "VmHWM: unknown"
    print("\(isReduced ? "reduced" : "whole"), budget \(megabytes) MiB: \(failures) failures, \(seconds) s, \(peak)")
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let budget = Int(arguments[2]) else {
    print("usage: crowd FILE BUDGET-IN-MIB reduced|whole")
    exit(2)
}
await measure(URL(filePath: arguments[1]), budget: budget, isReduced: arguments[3] == "reduced")
