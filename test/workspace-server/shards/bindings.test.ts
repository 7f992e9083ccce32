// An export in a workspace on one shard, bound in workspaces on others by users with the right to bind there.
import { expect } from "chai";
import { bindingOf, exportOf, schemaOf } from "../bindings/support/shard.ts";
import { makeAdmin } from "../support/logical-clusters.ts";
import { type Body, makeOn, namesIn, root, Stores, shardAt, startSharded, untilAt, WORKSPACES } from "./support.ts";

const APIS = "/apis/apis.kcp.io/v1alpha2";
const SCHEMAS = "/apis/apis.kcp.io/v1alpha1/apiresourceschemas";
const SLICES = "/apis/apis.kcp.io/v1alpha1/apiexportendpointslices";
const WIDGETS = "/apis/example.dev/v1/widgets";

const isBound = ({ body }: { readonly body: Body }): boolean => body.status?.phase === "Bound";

describe("exports and shards of one process", function () {
  this.timeout(30_000);

  it("are bound across shards, published for each shard with bindings, and kept over a restart", async () => {
    await using stores = new Stores();
    const versions = async (server: Parameters<typeof shardAt>[0]) => {
      const paths = ["root:near", "root:far"].map((at) => `/clusters/${at}${APIS}/apibindings/w`);
      const answers = await Promise.all(paths.map((path) => server.get(path, root)));
      return answers.map(({ body }) => [body.status.phase, body.metadata.resourceVersion]);
    };
    let before: unknown;
    {
      await using server = await startSharded(stores);
      const provider = await makeOn(server, "provider", { shard: "shard-1" });
      const near = await makeOn(server, "near", { shard: "root" });
      const far = await makeOn(server, "far", { shard: "shard-1" });
      const post = async (place: string, body: object, user = "root") => {
        const answer = await server.send(`POST /clusters/${place}`, body, { user });
        expect(answer.status, answer.text).to.equal(201);
      };
      await post(`${provider}${SCHEMAS}`, schemaOf("v1"));
      await post(`${provider}${APIS}/apiexports`, exportOf("widgets", ["v1.widgets.example.dev"]));
      await untilAt(server, `/clusters/${provider}${APIS}/apiexports/widgets`, ({ body }) => body.status?.identityHash);
      // Without the right to bind in the export's workspace, rights in one's own do not help.
      await makeAdmin(server, near, "alice");
      await untilAt(
        server,
        { path: `/clusters/${near}${APIS}/apibindings`, user: "alice" },
        ({ status }) => status === 200,
      );
      const binding = bindingOf("w", "root:provider:widgets");
      const refused = await server.send(`POST /clusters/${near}${APIS}/apibindings`, binding, { user: "alice" });
      expect(refused.status, refused.text).to.equal(403);
      await makeAdmin(server, provider, "alice");
      await untilAt(
        server,
        { path: `/clusters/${provider}${APIS}/apiexports`, user: "alice" },
        ({ status }) => status === 200,
      );
      await post(`${near}${APIS}/apibindings`, binding, "alice");
      await untilAt(server, `/clusters/${near}${APIS}/apibindings/w`, isBound);
      await post(`${near}${WIDGETS}`, { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name: "n" } });
      const slice = `/clusters/${provider}${SLICES}/widgets`;
      const ends = ({ body }: { readonly body: Body }): string[] => body.status?.endpoints?.map(({ url }: Body) => url);
      const at = (url: string) => `${url}/services/apiexport/${provider}/widgets`;
      const one = await untilAt(server, slice, (answer) => ends(answer)?.length === 1);
      expect(ends(one)).to.deep.equal([at(server.url)]);
      await post(`${far}${APIS}/apibindings`, binding);
      await untilAt(server, `/clusters/${far}${APIS}/apibindings/w`, isBound);
      await post(`${far}${WIDGETS}`, { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name: "f" } });
      const shard = await shardAt(server, "shard-1");
      const both = await untilAt(server, slice, (answer) => ends(answer)?.length === 2);
      expect(ends(both)).to.have.members([at(server.url), at(shard.url)]);
      const { identityHash } = (await server.get(`/clusters/${provider}${APIS}/apiexports/widgets`, root)).body.status;
      const all = `/clusters/*/apis/example.dev/v1/widgets:${identityHash}`;
      expect(namesIn(await server.get(all, root))).to.deep.equal(["n"]);
      expect(namesIn(await shard.get(all, root))).to.deep.equal(["f"]);
      const isUpToDate = ({ body }: { readonly body: Body }): boolean =>
        body.status.conditions.every(({ status }: Body) => status === "True");
      for (const cluster of [near, far]) await untilAt(server, `/clusters/${cluster}${APIS}/apibindings/w`, isUpToDate);
      before = await versions(server);
    }
    await using server = await startSharded(stores);
    expect(namesIn(await server.get(`/clusters/root:near${WIDGETS}`, root))).to.deep.equal(["n"]);
    expect(namesIn(await server.get(`/clusters/root:far${WIDGETS}`, root))).to.deep.equal(["f"]);
    // A later binding proves that the earlier ones have been reconciled.
    const more = await makeOn(server, "more", { shard: "root" });
    const binding = bindingOf("w", "root:provider:widgets");
    expect((await server.send(`POST /clusters/${more}${APIS}/apibindings`, binding, root)).status).to.equal(201);
    await untilAt(server, `/clusters/${more}${APIS}/apibindings/w`, isBound);
    expect(await versions(server)).to.deep.equal(before);
  });

  it("update bindings on other shards, and drop the URL of a removed shard", async () => {
    await using stores = new Stores();
    await using server = await startSharded(stores, { shards: { names: ["shard-1", "shard-2"] } });
    const post = async (place: string, body: object) => {
      const answer = await server.send(`POST /clusters/${place}`, body, root);
      expect(answer.status, answer.text).to.equal(201);
    };
    // Exports of each shard are bound on all others, in any order of starts.
    for (const [provider, others] of [
      ["root", ["shard-1", "shard-2"]],
      ["shard-2", ["root", "shard-1"]],
      ["shard-1", ["shard-2", "root"]],
    ] as const) {
      const at = await makeOn(server, `provider-${provider}`, { shard: provider });
      await post(`${at}${SCHEMAS}`, schemaOf("v1"));
      await post(`${at}${APIS}/apiexports`, exportOf("widgets", ["v1.widgets.example.dev"]));
      for (const shard of others) {
        const name = `of-${provider}-on-${shard}`;
        const consumer = await makeOn(server, name, { shard });
        await post(`${consumer}${APIS}/apibindings`, bindingOf("w", `root:provider-${provider}:widgets`));
        await untilAt(server, `/clusters/${consumer}${APIS}/apibindings/w`, isBound);
      }
      // Bindings follow changes of the export.
      const size = { type: "object", properties: { size: { type: "integer" }, color: { type: "string" } } };
      const schema = { type: "object", properties: { spec: size } };
      const versions = [{ name: "v1", served: true, storage: true, schema }];
      await post(`${at}${SCHEMAS}`, schemaOf("v2", { versions }));
      const { spec } = exportOf("widgets", ["v2.widgets.example.dev"]) as Body;
      const headers = { "content-type": "application/merge-patch+json" };
      const path = `/clusters/${at}${APIS}/apiexports/widgets` as const;
      expect((await server.send(`PATCH ${path}`, { spec }, { ...root, headers })).status).to.equal(200);
      for (const shard of others)
        await untilAt(
          server,
          `/clusters/root:of-${provider}-on-${shard}${APIS}/apibindings/w`,
          ({ body }) => body.status.boundResources[0].schema.name === "v2.widgets.example.dev",
        );
      const urls = await Promise.all(others.map(async (shard) => (await shardAt(server, shard)).url));
      const expected = urls.map((url) => `${url}/services/apiexport/${at}/widgets`).sort();
      const ends = ({ body }: { readonly body: Body }) => body.status?.endpoints?.map(({ url }: Body) => url).sort();
      await untilAt(
        server,
        `/clusters/${at}${SLICES}/widgets`,
        (answer) => JSON.stringify(ends(answer)) === JSON.stringify(expected),
      );
    }
    for (const name of ["of-root-on-shard-2", "of-shard-1-on-shard-2", "provider-shard-2"])
      expect((await server.send(`DELETE /clusters/root${WORKSPACES}/${name}`, undefined, root)).status).to.equal(200);
    await server.server.removeShard("shard-2");
    const slices = ["root", "shard-1"].map((name) => `/clusters/root:provider-${name}${SLICES}/widgets`);
    for (const slice of slices) await untilAt(server, slice, ({ body }) => body.status?.endpoints?.length === 1);
  });
});
