// Unchanged Go controllers use the view of an export: an operator of controller-runtime in one workspace, and informers of
// client-go over all workspaces. The workspaces themselves would reject them.
import { apiExportView } from "@virtual-workspaces/apiexport";
import { sameCaller } from "@virtual-workspaces/forwarding";
import { apiResourceSchemaOf, definitionOf } from "@virtual-workspaces/kcp/apis";
import { Upstream } from "@virtual-workspaces/transport";
import { builtInKinds } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { MERGE } from "../_support/patches.ts";
import { type KubeconfigHome, kubeconfigHome, startTls, type TlsServer } from "../_support/server.ts";
import { letContent, Provider } from "../plugins/apiexport/support/provider.ts";
import { APIS, exportOf } from "../workspace-server/bindings/support/shard.ts";
import { makeNamespace, makeWorkspace } from "../workspace-server/support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../workspace-server/support/workspaces.ts";
import { building } from "./support/build.ts";
import { GoClient, type GoCommand } from "./support/client.ts";
import { Task } from "./support/tasks.ts";
import { Quote } from "./support/views.ts";

const root = { user: "root" };
const TASKS = "/apis/example.dev/v1/namespaces/work/tasks";
const QUOTES = "/apis/example.dev/v1/quotes";
const about = (kind: string, name: string, spec: object) => ({
  ...{ apiVersion: "example.dev/v1", kind },
  metadata: { name },
  spec,
});

describe("controllers through the view of an export", function () {
  this.timeout(120_000);
  const homes: KubeconfigHome[] = [];
  let workspaces: Workspaces;
  let upstream: Upstream;
  let server: TlsServer;
  let provider: Provider;
  const bound: string[] = [];

  before(async function () {
    await building("clients").call(this);
    workspaces = await startWorkspaces();
    const credentials = { get: () => ({ headers: ["Authorization", "Bearer root"] }) };
    upstream = new Upstream({ url: workspaces.url, credentials });
    const kinds = builtInKinds.map(({ resource }) => resource);
    server = await startTls([apiExportView({ upstream, identity: sameCaller, kinds })]);
    provider = new Provider(workspaces, await makeWorkspace(workspaces, "provider"), "work");
    const { cluster } = provider;
    const schemas = [Task, Quote].map((kind) => apiResourceSchemaOf(definitionOf(kind as never), "v1"));
    for (const schema of schemas) await provider.post(cluster, "/apis/apis.kcp.io/v1alpha1/apiresourceschemas", schema);
    const names = schemas.map(({ metadata }) => metadata.name ?? "");
    await provider.post(cluster, `${APIS}/apiexports`, exportOf("work", names));
    await letContent(provider, { kind: "User", name: "alice" });
    for (const name of ["one", "two"]) {
      const made = await provider.consumer(name);
      await makeNamespace(workspaces, made, "work");
      bound.push(made);
    }
  });

  after(async () => {
    for (const home of homes) home[Symbol.dispose]();
    await server?.[Symbol.asyncDispose]();
    await upstream?.[Symbol.asyncDispose]();
    await workspaces?.[Symbol.asyncDispose]();
  });

  async function start(command: GoCommand, path: string): Promise<GoClient> {
    const { authority, port } = server;
    const home = await kubeconfigHome({ authority, port, contexts: { view: path }, user: "alice" });
    homes.push(home);
    return GoClient.start(command, home);
  }

  it("an operator adds its finalizer, reconciles and cleans up objects of another user's workspace", async () => {
    const [one = ""] = bound;
    for (const name of ["a", "b"]) await provider.post(one, TASKS, about("Task", name, { title: name, steps: 3 }));
    await using operator = await start("operator", provider.url("", one));
    for (const name of ["a", "b"])
      await operator.event("settled", ({ key, done }) => key === name && done === 3, 30_000);
    const { body } = await workspaces.get(`/clusters/${one}${TASKS}/a`, root);
    expect(body.status).to.deep.include({ phase: "Done", done: 3 });
    expect(body.metadata.finalizers).to.deep.equal(["example.dev/clients"]);
    await workspaces.send(`DELETE /clusters/${one}${TASKS}/a`, undefined, root);
    await operator.event("cleaned", ({ key }) => key === "a");
    await provider.until(`/clusters/${one}${TASKS}/a`, ({ status }) => status === 404);
    expect(operator.noise()).to.deep.equal([]);
    await operator.end();
  });

  for (const command of ["informer", "typed-informer", "metadata-informer"] as const)
    it(`${command} has the objects of all workspaces, and loses those of one that deletes its binding`, async () => {
      const [one = "", two = ""] = bound;
      const made = async (cluster: string, name: string): Promise<[string, string]> => {
        const { metadata } = await provider.post(cluster, QUOTES, about("Quote", `${command}-${name}`, { text: name }));
        return [metadata.name, metadata.resourceVersion];
      };
      const first = await made(one, "first");
      await using informer = await start(command, provider.url(""));
      await informer.event("synced");
      const second = await made(two, "second");
      await informer.holds(new Map([first, second]));
      const path = `/clusters/${two}${QUOTES}/${second[0]}` as const;
      const changed = await workspaces.send(`PATCH ${path}`, { spec: { text: "changed" } }, { ...MERGE, ...root });
      await informer.holds(new Map([first, [second[0], changed.body.metadata.resourceVersion]]));
      await workspaces.send(`DELETE ${path}`, undefined, root);
      await informer.holds(new Map([first]));
      await workspaces.send(`DELETE /clusters/${one}${QUOTES}/${first[0]}`, undefined, root);
      await informer.holds(new Map());
      expect(informer.noise()).to.deep.equal([]);
      await informer.end();
    });

  it("an informer that starts before the first binding has the objects that arrive with it", async () => {
    const lonely = new Provider(workspaces, await makeWorkspace(workspaces, "lonely"), "work");
    const schema = apiResourceSchemaOf(definitionOf(Quote as never), "v1");
    await lonely.post(lonely.cluster, "/apis/apis.kcp.io/v1alpha1/apiresourceschemas", schema);
    await lonely.post(lonely.cluster, `${APIS}/apiexports`, exportOf("work", [schema.metadata.name ?? ""]));
    await letContent(lonely, { kind: "User", name: "alice" });
    await using informer = await start("informer", lonely.url(""));
    await informer.event("synced");
    expect([...informer.objects.keys()]).to.deep.equal([]);
    const cluster = await lonely.consumer("late");
    const { metadata } = await lonely.post(cluster, QUOTES, about("Quote", "late", { text: "x" }));
    await informer.holds(new Map([["late", metadata.resourceVersion]]));
    await workspaces.send(`DELETE /clusters/${cluster}${APIS}/apibindings/work`, undefined, root);
    await informer.holds(new Map());
    await informer.end();
  });
});
