#if Observability
import InwardCore
import Synchronization

/// The instruments of one metric, one for each set of labels, each made once and kept.
///
/// Every set has the same names, because a backend may allow no other, as Prometheus does; what does not apply is empty.
final class Instruments<Instrument: Sendable>: Sendable {
    private enum Slot {
        case reserved
        case made(Instrument)
    }

    private let slots = Mutex<[[String]: Slot]>([:])
    private let names: [String]
    private let limit: Int
    private let make: @Sendable ([(String, String)]) -> Instrument

    /// Makes none yet.
    ///
    /// - Parameters:
    ///   - names: The labels' names.
    ///   - limit: How many sets of labels have an instrument of their own, at least 1. What is beyond shares one.
    ///   - make: Makes the instrument for a set of labels.
    init(labels names: [String], limit: Int, make: @escaping @Sendable ([(String, String)]) -> Instrument) {
        self.names = names
        self.limit = max(1, limit)
        self.make = make
    }

    /// The instrument for these labels, by their values in the order of the names. Hidden characters in them are written out.
    subscript(values: [String]) -> Instrument {
        instrument(values.map(\.visible))
    }

    private func instrument(_ values: [String]) -> Instrument {
        let slot = slots.withLock { slots -> Slot? in
            if let slot = slots[values] { return slot }
            guard slots.count < limit || values == overflow else { return nil }
            slots[values] = .reserved
            return .reserved
        }
        switch slot {
        case .made(let instrument):
            return instrument
        case .reserved:
            // Outside of the lock, because it calls the factory. Whoever comes meanwhile makes the same instrument again.
            let instrument = make(Array(zip(names, values)))
            slots.withLock { $0[values] = .made(instrument) }
            return instrument
        case nil:
            return instrument(overflow)
        }
    }

    /// What stands for all labels that have no instrument of their own.
    private var overflow: [String] { names.map { _ in "_OTHER" } }
}
#endif
