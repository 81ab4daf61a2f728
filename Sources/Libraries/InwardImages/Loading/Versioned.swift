/// Something of a load, and what was forgotten before the load began: those who differ in that share nothing.
struct Versioned<Base: Hashable & Sendable>: Hashable, Sendable {
    let base: Base
    let version: Int
}
