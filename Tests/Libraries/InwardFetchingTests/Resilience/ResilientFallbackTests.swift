import InwardFetching
import InwardTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ResilientFallbackTests {
    @Test func fallbackAnswersAfterAFailure() async {
        let replica = Database(.success("Ada of the replica"))
        let query = Database(.success("Ada"), .failure(.busy), .failure(.notFound)).query
            .fallingBack(to: replica.query) { $0 == .busy }
        #expect(await query.result(1) == .success("Ada"))
        #expect(await query.result(2) == .success("Ada of the replica"))
        #expect(await query.result(3) == .failure(.notFound))
        #expect(replica.asked == [2])
    }

    @Test func originalErrorIsThrownIfTheFallbackFailsToo() async {
        let query = Database(.failure(.busy)).query.fallingBack(to: Database(.failure(.notFound)).query) { _ in true }
        #expect(await query.result(7) == .failure(.busy))
    }

    @Test func fixedResultAlsoReplacesErrorsOfDecorators() async {
        let query = Database(.success("Ada")).query.timingOut(after: .zero).fallingBack(to: "nobody") { error in
            error.resilience?.reason == .timedOut
        }
        #expect(await query.result(7) == .success("nobody"))
        let busy = Database(.failure(.busy)).query.fallingBack(to: "nobody") { $0 == .notFound }
        #expect(await busy.result(7) == .failure(.busy))
    }

    @Test func cancelledCallsHaveNoFallback() async {
        let replica = Database(.success("Ada"))
        let query = Database(.failure(.busy)).query.fallingBack(to: replica.query) { _ in true }
            .fallingBack(to: "nobody") { _ in true }
        let result = await withTaskGroup(of: Result<String, DatabaseError>.self) { group in
            group.cancelAll()
            group.addTask { await query.result(7) }
            return await group.next()
        }
        #expect(result == .failure(.busy))
        #expect(replica.asked.isEmpty)
    }
}
