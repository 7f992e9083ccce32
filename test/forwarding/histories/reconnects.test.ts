// A client that disconnects a thousand times, with a view whose upstream disconnects too, sees every change once and in
// order.
import { forward } from "@virtual-workspaces/forwarding";
import { allow, createServer, defineVirtualWorkspace, merged, staticTokens, view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { testLog } from "../../_setup/log.ts";
import { startPlain } from "../../_support/plain.ts";
import { Random } from "../../_support/random.ts";
import { startRelay } from "../../_support/relay.ts";
import { credentialed } from "../upstream.ts";
import { Thing, type ThingContent, things } from "./kinds.ts";

const RECONNECTS = 1000;
const ALL = "/services/things/clusters/*/apis/test.dev/v1/things";

describe("a watch that is disconnected a thousand times", () => {
  it("sees every change exactly once", async () => {
    const objects = Thing.collection({ history: { events: 20_000 } });
    const upstream = createServer({
      virtualWorkspaces: [
        defineVirtualWorkspace({
          name: "up",
          path: "/clusters/:cluster",
          wildcard: true,
          authorize: () => allow(),
          resources: [Thing.serve(objects)],
        }),
      ],
      authentication: [staticTokens({ admin: { name: "admin" } })],
      impersonation: () => allow(),
      log: testLog().log,
    });
    const { port } = await upstream.listen({ port: 0 });
    await using relay = await startRelay(port);
    await using forwarded = forward<ThingContent>({
      resource: Thing,
      upstream: credentialed(`http://127.0.0.1:${relay.port}/services/up`),
      onError: () => undefined,
    });
    const from = merged({ sources: { up: forwarded }, onError: () => undefined });
    const shown = view({ from, select: ({ spec }) => spec.team === "red", history: { events: 20_000 } });
    await using server = await startPlain(things(Thing.serve(shown)));
    const random = new Random(1);
    const part = objects.in("c1", "ns1");
    let { resourceVersion: version } = (await server.get(ALL)).body.metadata;
    /** Expected and actual changes: an object is created, changed with each number, and deleted. */
    const due: string[] = [];
    const seen: string[] = [];
    let n = 0;
    const change = (): void => {
      n += 1;
      const name = random.pick(["a", "b", "c"]);
      const known = part.get(name);
      const was = known?.spec.team === "red";
      const is = random.chance(0.8);
      part.set(name, { n, team: is ? "red" : "blue" });
      if (was || is)
        due.push(`${was ? (is ? "MODIFIED" : "DELETED") : "ADDED"} ${name} ${was && !is ? known?.spec.n : n}`);
    };
    for (let round = 0; round < RECONNECTS; round++) {
      for (let left = random.below(4); left > 0; left--) change();
      if (round % 50 === 25) relay.cut();
      await using watch = await server.watch(`${ALL}?watch=true&resourceVersion=${version}`);
      for (let wanted = random.below(due.length - seen.length + 1); wanted > 0; wanted--) {
        const { type, object } = await watch.next();
        version = object.metadata.resourceVersion;
        seen.push(`${type} ${object.metadata.name} ${(object["spec"] as { n: number }).n}`);
      }
    }
    await using watch = await server.watch(`${ALL}?watch=true&resourceVersion=${version}`);
    while (seen.length < due.length) {
      const { type, object } = await watch.next();
      seen.push(`${type} ${object.metadata.name} ${(object["spec"] as { n: number }).n}`);
    }
    expect(due.length).to.be.above(RECONNECTS);
    expect(seen).to.deep.equal(due);
    await upstream.close();
  }).timeout(60_000);
});
