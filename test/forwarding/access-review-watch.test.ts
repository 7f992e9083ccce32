// Permissions that are revoked while a watch is open.
import { expect } from "chai";
import { label } from "../_support/plain.ts";
import { until } from "../_support/until.ts";
import { NOTES, startView } from "./access-view.ts";
import { startReviewing } from "./reviewing.ts";

describe("a watch that another server authorizes", () => {
  it("ends with 410 once it is denied, without effect on others; watches with equal checks share a review", async () => {
    await using kube = await startReviewing();
    for (const name of ["alice", "bob"]) kube.permit({ verbs: ["watch"], to: { kind: "User", name } });
    await using view = await startView({ upstream: kube.upstream, allowCache: 200, denyCache: 100, watchesEvery: 100 });
    const watches = await Promise.all(Array.from({ length: 5 }, () => view.server.watch(`${NOTES}?watch=true`)));
    await using stays = await view.server.watch(`${NOTES}?watch=true`, { user: "bob" });
    for (const watch of [...watches, stays]) expect(await watch.take(1)).to.deep.equal(["ADDED first"]);
    const before = kube.seen.access.length;
    await until(() => kube.seen.access.length >= before + 4);
    const withdrawn = performance.now();
    kube.withdraw("alice");
    for (const watch of watches) expect((await watch.rest()).map(label)).to.deep.equal(["ERROR 410"]);
    expect(performance.now() - withdrawn).to.be.lessThan(8_000);
    expect(await view.code(`${NOTES}?watch=true`)).to.equal(403);
    view.notes.in("root").set("second", { text: "still here" });
    expect(await stays.take(1)).to.deep.equal(["ADDED second"]);
    for (const watch of watches) await watch[Symbol.asyncDispose]();
    // One of bob's reviews may be in progress.
    await until(() => view.access.stats.asked === kube.seen.access.length);
    const { remembered, shared } = view.access.stats;
    expect(remembered + shared).to.be.greaterThan(0);
  });
});
