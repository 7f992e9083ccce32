// A view of bound schemas for each shard, whose workspaces may bind exports of another shard.
import { ApiModel, apiResourceSchemaView } from "@virtual-workspaces/apiexport";
import { type Loopback, loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { untilAnswer } from "../../../_support/until.ts";
import { APIS, bindingOf, schemaOf } from "../../../workspace-server/bindings/support/shard.ts";
import { makeOn, Stores, shardAt, startSharded } from "../../../workspace-server/shards/support.ts";
import type { Workspaces } from "../../../workspace-server/support/workspaces.ts";
import { Consumer, SCHEMAS, schemasIn } from "../support/consumer.ts";
import { Provider } from "../support/provider.ts";

const root = { user: "root" };
const WIDGETS = "v1.widgets.example.dev";

describe("views of bound schemas on several shards", function () {
  this.timeout(90_000);
  const stores = new Stores();
  const consumers = new Map<string, Consumer>();
  let server: Workspaces;
  let provider: Provider;

  const viewOver = ({ upstream }: Loopback) =>
    apiResourceSchemaView({ upstream, model: new ApiModel({ upstream }), allowCache: 500 });

  before(async () => {
    const own = loopback();
    server = await startSharded(stores, {
      loopback: own,
      virtualWorkspaces: [viewOver(own)],
      shards: { virtualWorkspaces: (_, context) => [viewOver(context.loopback)] },
    });
    provider = await Provider.make(server);
    for (const shard of ["root", "shard-1"]) {
      const consumer = new Consumer(server, await makeOn(server, `on-${shard}`, { shard }));
      await consumer.let("alice", { verbs: ["get"] });
      await consumer.bind("widgets", `${provider.cluster}:widgets`);
      consumers.set(shard, consumer);
    }
  });

  after(async () => {
    await server?.[Symbol.asyncDispose]();
    await stores[Symbol.asyncDispose]();
  });

  const of = (shard: string): Consumer => consumers.get(shard) as Consumer;

  it("show the schemas of their workspaces from any shard, and report changes there", async () => {
    for (const shard of ["root", "shard-1"]) {
      const at = await shardAt(server, shard);
      const { body } = await at.get(of(shard).url(`${SCHEMAS}/${WIDGETS}`));
      expect(body.metadata.annotations["kcp.io/cluster"]).to.equal(provider.cluster);
      expect(body.metadata.annotations).to.not.have.property("kcp.io/shard");
      await using watch = await at.watch(
        of(shard).url(`${SCHEMAS}?watch=true&fieldSelector=metadata.name%3D${WIDGETS}`),
      );
      expect(await watch.take(1)).to.deep.equal([`ADDED ${WIDGETS}`]);
      const path = `/clusters/${provider.cluster}${SCHEMAS}/${WIDGETS}` as const;
      expect((await server.send(`DELETE ${path}`, undefined, root)).status).to.equal(200);
      await provider.post(provider.cluster, SCHEMAS, schemaOf("v1"));
      expect(await watch.take(2)).to.deep.equal([`DELETED ${WIDGETS}`, `ADDED ${WIDGETS}`]);
    }
  });

  it("show nothing of a workspace of another shard to any user", async () => {
    for (const [shard, other] of [
      ["root", "shard-1"],
      ["shard-1", "root"],
    ] as const) {
      const at = await shardAt(server, shard);
      expect((await at.get(of(other).url(SCHEMAS), { user: "bob" })).status).to.equal(403);
      for (const user of ["alice", "root"])
        expect((await at.get(of(other).url(SCHEMAS), { user })).status, `${user} ${shard}`).to.be.oneOf([403, 404]);
    }
  });

  it("react to bindings of their own shard", async () => {
    const there = await shardAt(server, "shard-1");
    const far = of("shard-1");
    await using watch = await there.watch(far.url(`${SCHEMAS}?watch=true&fieldSelector=metadata.name%3D${WIDGETS}`));
    expect(await watch.take(1)).to.deep.equal([`ADDED ${WIDGETS}`]);
    await far.unbind("widgets");
    expect(await watch.take(1)).to.deep.equal([`DELETED ${WIDGETS}`]);
    expect(schemasIn(await there.get(far.url(SCHEMAS)))).to.deep.equal([]);
    const bound = bindingOf("again", `${provider.cluster}:widgets`);
    const made = await server.send(`POST /clusters/${far.cluster}${APIS}/apibindings`, bound, root);
    expect(made.status, made.text).to.equal(201);
    expect(await watch.take(1)).to.deep.equal([`ADDED ${WIDGETS}`]);
    await untilAnswer(
      () => there.get(far.url(SCHEMAS)),
      (answer) => schemasIn(answer).includes(WIDGETS),
    );
  });
});
