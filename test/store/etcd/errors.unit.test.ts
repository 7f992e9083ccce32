import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { verdict } from "../../../packages/store/src/etcd/errors.ts";

/** etcd's errors (`api/v3rpc/rpctypes/error.go`), and their meaning for a transaction. */
const ROWS = [
  [status.OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted", "final", "Compacted"],
  [status.OUT_OF_RANGE, "etcdserver: mvcc: required revision is a future revision", "final", "Future"],
  [status.RESOURCE_EXHAUSTED, "etcdserver: mvcc: database space exceeded", "final", "NoSpace"],
  [status.RESOURCE_EXHAUSTED, "etcdserver: too many requests", "refused", "Unavailable"],
  [status.INVALID_ARGUMENT, "etcdserver: request is too large", "final", "TooLarge"],
  [status.NOT_FOUND, "etcdserver: requested lease not found", "final", "LeaseNotFound"],
  [status.PERMISSION_DENIED, "etcdserver: permission denied", "final", "Denied"],
  [status.UNAUTHENTICATED, "etcdserver: invalid auth token", "token", "Denied"],
  [status.UNAVAILABLE, "etcdserver: no leader", "refused", "Unavailable"],
  [status.UNAVAILABLE, "etcdserver: rpc not supported for learner", "refused", "Unavailable"],
  [status.FAILED_PRECONDITION, "etcdserver: rpc not supported for learner", "refused", "Unavailable"],
  [status.UNAVAILABLE, "etcdserver: request timed out", "lost", "Unavailable"],
  [status.UNAVAILABLE, "etcdserver: leader changed", "lost", "Unavailable"],
] as const;

describe("an error of etcd", () => {
  for (const [code, details, is, means] of ROWS)
    it(`"${details}" (${status[code]}): ${is}, ${means}`, () => {
      const found = verdict(Object.assign(new Error(`${code}: ${details}`), { code, details }), "etcd");
      expect([found.is, found.error.code]).to.deep.equal([is, means]);
    });

  it("has a message without the resolution note of gRPC", () => {
    const details = "No connection established. Last error: connect ECONNREFUSED. Resolution note: ";
    const thrown = Object.assign(new Error(details), { code: status.UNAVAILABLE, details });
    expect(verdict(thrown, "etcd at a:1").error.message).to.equal(
      "etcd at a:1: No connection established. Last error: connect ECONNREFUSED",
    );
  });
});
