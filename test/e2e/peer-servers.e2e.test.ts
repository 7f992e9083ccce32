// The server of the page about scaling out, as two processes: clients see one sequence of versions through both.
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { KindReference } from "@virtual-workspaces/apimachinery";
import { Client, type ResourceClient } from "@virtual-workspaces/client";
import { issueCertificate } from "@virtual-workspaces/framework/tls";
import { expect } from "chai";
import { localNode, root } from "../../tools/install.mjs";
import { tree } from "../_setup/tree.ts";
import { freePort } from "../_support/free-ports.ts";
import { until } from "../_support/until.ts";
import { Program } from "../go/support/program.ts";

const VIEW = `
import { authenticated, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
const Note = defineResource({ group: "test.dev", version: "v1", kind: "Note", scope: "Cluster", spec: { type: "object" } });
export default defineVirtualWorkspace({
  name: "notes", path: "/clusters/:cluster", authorize: authenticated(), resources: [Note.serve(Note.collection())],
});
`;
const Note: KindReference<{ spec: object }> = {
  group: "test.dev",
  version: "v1",
  kind: "Note",
  plural: "notes",
  scope: "Cluster",
};
const SOURCE = "--conditions=@virtual-workspaces/source";

describe("two processes with a peer group", function () {
  this.timeout(60_000);

  it("are one server: both show what one of them has created, at one version", async () => {
    const page = readFileSync(join(root, "docs/how-to/scaling-out.md"), "utf8");
    const [, server = ""] = /^```ts\n(\/\/ server\.ts\n[\s\S]*?)^```$/m.exec(page) ?? [];
    const subject = { name: "peer", groups: [] };
    const now = new Date();
    const servers = await issueCertificate({ subject, purpose: { kind: "authority" }, now });
    const peers = await issueCertificate({ subject, purpose: { kind: "authority" }, now });
    const purpose = { kind: "server", hosts: [], addresses: ["127.0.0.1"] } as const;
    const serving = await issueCertificate({ subject, purpose, now }, servers);
    const client = await issueCertificate({ subject, purpose: { kind: "client" }, now }, peers);
    using folder = tree({
      "server.ts": server,
      "view.ts": VIEW,
      "tls/servers-ca.crt": servers.cert,
      "tls/peers-ca.crt": peers.cert,
      "tls/tls.crt": serving.cert,
      "tls/tls.key": serving.key,
      "tls/peer.crt": client.cert,
      "tls/peer.key": client.key,
      "tls/tokens.csv": "token-of-ann,ann,1\n",
    });
    symlinkSync(join(root, "node_modules"), join(folder.path, "node_modules"));
    await using stack = new AsyncDisposableStack();
    const urls = [`https://127.0.0.1:${await freePort()}`, `https://127.0.0.1:${await freePort()}`] as const;
    const [one, two] = urls;
    const programs = [urls, [two, one] as const].map((words) =>
      stack.use(new Program(localNode, [SOURCE, "server.ts", ...words], { cwd: folder.path })),
    );
    for (const program of programs) await program.until("its URL", () => program.lines[0], 30_000);
    const [first, second] = urls.map((url) => {
      const headers = ["Authorization", "Bearer token-of-ann"];
      const upstream = {
        url: `${url}/services/notes`,
        tls: { ca: servers.cert },
        credentials: { get: () => ({ headers }) },
      };
      return stack.use(new Client({ upstream, cluster: "root" })).resource(Note);
    }) as [ResourceClient<{ spec: object }>, ResourceClient<{ spec: object }>];
    const lists = () => Promise.all([first, second].map((notes) => notes.list()));
    await until(async () => {
      const [mine, yours] = await lists();
      return mine?.metadata.resourceVersion === yours?.metadata.resourceVersion || undefined;
    });
    await first.create({ metadata: { name: "a" }, spec: {} });
    await second.create({ metadata: { name: "b" }, spec: {} });
    const [mine, yours] = await lists();
    expect(mine?.items.map(({ metadata }) => metadata.name)).to.deep.equal(["a", "b"]);
    expect(yours).to.deep.equal(mine);

    programs[0]?.signal("SIGTERM");
    expect((await programs[0]?.ended)?.code).to.equal(0);
    await until(() =>
      second.list().then(
        () => true,
        () => undefined,
      ),
    );
  });
});
