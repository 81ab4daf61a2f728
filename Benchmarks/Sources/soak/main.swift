import Foundation
import Soaking

// Exits with status 1 if there are findings.
let numbers = CommandLine.arguments.dropFirst().map { UInt64($0) }
guard numbers.count <= 2, !numbers.contains(nil) else {
    say("usage: soak [seconds] [seed]")
    exit(2)
}
let seconds = Int(clamping: (numbers.first ?? nil) ?? 600)
let seed = (numbers.dropFirst().first ?? nil) ?? .random(in: 0 ... .max)
say("soak \(seconds) \(seed)")
// A shorter run would not include every phase.
let soak = Soak(seconds: max(10, seconds), seed: seed)
await soak.run()
exit(soak.findings.isEmpty ? 0 : 1)
