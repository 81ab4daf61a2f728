import InwardTesting
import Testing

@testable import InwardRepositories

struct EntityListTests {
    /// A slow but simple model of a list: entities with their sizes.
    private typealias Model = [(remark: Remark, byteCount: Int)]

    private func list(_ model: Model) -> EntityList<Remark> {
        var list = EntityList<Remark>([], rejected: [])
        for (remark, byteCount) in model { list.append(remark, byteCount: byteCount) }
        return list
    }

    /// Returns remarks with some identifiers, each with a unique text.
    private func remarks(_ ids: Set<Int>, _ step: Int, _ random: inout SplitMix64) -> Model {
        ids.sorted().shuffled(using: &random).map { id in
            let author = Int.random(in: 1...3, using: &random)
            return (Remark(id: id, author: author, text: "\(step)"), Int.random(in: 0...9, using: &random))
        }
    }

    private func ids(_ count: Int, _ random: inout SplitMix64) -> Set<Int> {
        Set((0..<count).map { _ in Int.random(in: 0..<12, using: &random) })
    }

    @Test func soleEntityOfAListHasAllOfItsBytes() {
        let remark = Remark(id: 1, author: 7, text: "one")
        var list = EntityList([remark], byteCount: 100, rejected: [])
        list.replace(with: remark, byteCount: 40)
        #expect(list.byteCount == 40)
    }

    @Test func removalSubtractsOnlyTheEntitysBytes() {
        var list = list((1...3).map { (Remark(id: $0, author: 7, text: "text"), $0 * 10) })
        list.remove(1)
        #expect(list.byteCount == 50)
        list.replace(with: Remark(id: 2, author: 7, text: "other"), byteCount: 1)
        #expect(list.byteCount == 31)
        list.remove(3)
        #expect(list.byteCount == 1)
    }

    @Test func randomWalkAgreesWithAnArray() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SplitMix64(seed: seed)
        for step in 0..<400 {
            let place: Comment = "The seed was \(seed), in the step \(step)."
            var model = remarks(ids(9, &random), 0, &random)
            var list = list(model)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let (remark, byteCount) = remarks([Int.random(in: 0..<12, using: &random)], step, &random)[0]
                list.replace(with: remark, byteCount: byteCount)
                model = model.map { $0.remark.id == remark.id ? (remark, byteCount) : $0 }
            case 1:
                let id = Int.random(in: 0..<12, using: &random)
                list.remove(id)
                model.removeAll { $0.remark.id == id }
            default:
                let newer = remarks(ids(Int.random(in: 0...12, using: &random), &random), step, &random)
                let hasCommon = model.contains { old in newer.contains { $0.remark.id == old.remark.id } }
                let isReplaced = list.replace(with: self.list(newer)) { $0.author != 2 }
                #expect(isReplaced == hasCommon, place)
                model = model.compactMap { old in
                    guard let new = newer.first(where: { $0.remark.id == old.remark.id }) else { return old }
                    return new.remark.author == 2 ? nil : new
                }
            }
            #expect(list.entities == model.map(\.remark), place)
            #expect(list.byteCount == model.map(\.byteCount).reduce(0, +), place)
            for id in 0..<12 { #expect(list.contains(id) == model.contains { $0.remark.id == id }, place) }
        }
    }

    @Test func removingAnEntitySubtractsItsShareOfTheBytes() {
        let remarks = (1...3).map { Remark(id: $0, author: 1, text: "") }
        var list = EntityList(remarks, byteCount: 30, rejected: [])
        #expect(list.byteCount == 30)
        list.remove(2)
        #expect(list.byteCount == 20)
        #expect(EntityList<Remark>([], byteCount: 30, rejected: []).byteCount == 30)
    }
}
