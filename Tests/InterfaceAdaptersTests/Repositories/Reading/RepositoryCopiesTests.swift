import InwardTesting
import Testing
import UseCases

@testable import InterfaceAdapters

/// A repository over a cache on the way to its upstream.
@Suite(.timeLimit(.minutes(5)))
struct RepositoryCopiesTests {
    private let clock = ManualClock()
    private let source = RemarkSource()

    private func repository(memory: MemoryLimit = MemoryLimit()) throws -> Repository<Remark> {
        source.send(.cacheControl, "max-age=600")
        let cache = ResponseCache(byteLimit: 1 << 20, clock: clock)
        return try .remarks(source.caching(in: cache.makePartition()), TimerService(clock), memory: memory)
    }

    @Test(arguments: [Duration.zero, .milliseconds(900), .seconds(30)])
    func whatIsInvalidatedIsNoCopyOfWhatItWas(age: Duration) async throws {
        let repository = try repository()
        _ = try await repository.entities()
        _ = try await repository.entity(1)
        _ = try await repository.entity(2, .upstream)
        source.put(Remark(id: 1, author: 7, text: "changed"))
        source.put(Remark(id: 2, author: 7, text: "changed"))
        clock.advance(by: age)
        repository.invalidateAll()
        #expect(try await repository.entities().value.prefix(2).map(\.text) == ["changed", "changed"])
        repository.invalidate(2)
        #expect(try await repository.entity(2).value.text == "changed")
    }

    @Test func aListThatIsNotInMemoryHasWhatWasCreated() async throws {
        let repository = try repository(memory: .nothing)
        _ = try await repository.entities(.author(7))
        clock.advance(by: .seconds(30))
        _ = try await repository.send(Remark(id: 4, author: 7, text: "four"))
        #expect(try await repository.entities(.author(7)).value.map(\.id) == [1, 2, 4])
    }

    @Test func aCopyFromBehindTheChangeWillDo() async throws {
        let repository = try repository(memory: .nothing)
        repository.invalidateAll()
        clock.advance(by: .seconds(2))
        _ = try await repository.entities()
        clock.advance(by: .seconds(2))
        #expect(try await repository.entities().origin == .memory)
        #expect(source.requests.count == 1)
    }
}
