import Foundation
import InwardImageCodecs
import InwardImages
import InwardTesting
import Soaking

/// Loads images of random sizes one after the other. Sometimes, a cached image is dropped, a load is cancelled, or an image is
/// damaged. Returns the number of loads.
@concurrent func work(_ plain: ImageLoader, _ source: MadeImages, seed: UInt64, until end: ContinuousClock.Instant)
    async -> Int
{
    var random = SplitMix64(seed: seed)
    var loads = 0
    while ContinuousClock.now < end, let address = source.addresses.randomElement(using: &random) {
        var loader = plain
        loader.addPlugin(
            Resize(width: .random(in: 20...1_500, using: &random), height: .random(in: 20...1_500, using: &random))
        )
        if Bool.random(using: &random) { loader.addPlugin(Watermark(.text("inward", .white))) }
        if loads.isMultiple(of: 50) { await loader.forget(address) }
        let load = Task { [loader] in await loader.load(address).result }
        // Cancels some loads, after a random number of turns.
        if Int.random(in: 0..<8, using: &random) == 0 {
            for _ in 0..<Int.random(in: 0..<200, using: &random) { await Task.yield() }
            load.cancel()
        }
        _ = await load.value
        loads += 1
    }
    return loads
}

// Exits with status 1 if memory has grown.
let numbers = CommandLine.arguments.dropFirst().map { UInt64($0) }
guard numbers.count <= 2, !numbers.contains(nil) else {
    say("usage: image-soak [seconds] [seed]")
    exit(2)
}
let length = Duration.seconds(max(10, (numbers.first ?? nil) ?? 120))
let seed = (numbers.dropFirst().first ?? nil) ?? .random(in: 0 ... .max)
say("image-soak \(length.components.seconds) \(seed)")
var random = SplitMix64(seed: seed)
let source = try MadeImages(&random)
let budget = DecodingBudget(bytes: 64 * 1_024 * 1_024)
let loader = ImageLoader(
    source: source,
    codec: SwiftImageCodec(),
    cache: ImageCache(bytes: 32 * 1_024 * 1_024),
    budget: budget
)
let seeds = (0..<16).map { _ in random.next() }
let start = ContinuousClock.now
async let counts = withTaskGroup(of: Int.self) { group in
    for seed in seeds { group.addTask { await work(loader, source, seed: seed, until: start + length) } }
    return await group.reduce(0, +)
}
var memory = MemorySeries()
while ContinuousClock.now < start + length {
    memory.sample(at: start.duration(to: .now))
    try await Task.sleep(for: .milliseconds(50))
}
let loads = await counts
// Cancelled loads end at their next row.
for _ in 0..<100 where budget.taken > 0 { try await Task.sleep(for: .milliseconds(50)) }
let tenths = memory.tenths(of: length).map { String(Int($0.rounded())) }.joined(separator: " ")
say("\(loads) loads, peak memory in each tenth, in MiB: \(tenths)")
var findings = [memory.finding(in: length)].compactMap(\.self)
if budget.taken > 0 { findings.append("\(budget.taken) bytes of the budget were not released.") }
for finding in findings { say(finding) }
if findings.isEmpty { say("No problems found.") }
exit(findings.isEmpty ? 0 : 1)
