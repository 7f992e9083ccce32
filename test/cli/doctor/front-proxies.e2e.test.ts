// `virtual-workspaces doctor` through kcp's front proxy, which this server answers as kcp 0.32 does, and through ours.
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { type Tree, tree } from "../../_setup/tree.ts";
import { createAuthority } from "../../_support/server.ts";
import { cli } from "../support/dev.ts";
import { Apart, Serve } from "../support/views-of-workspaces.ts";

const KUBECONFIG = "apiVersion: v1\nkind: Config\n";

/** Returns the whole output of a run. */
async function said(url: string, flags: readonly string[]): Promise<string> {
  const { stdout, stderr } = await cli("doctor", url, ...flags);
  return stdout + stderr;
}
const failureIn = (text: string): string => text.slice(text.indexOf("FAILED")).trimEnd();

describe("virtual-workspaces doctor, through kcp's front proxy", function () {
  this.timeout(60_000);
  let folder: Tree;
  let server: Server;
  /** Answers paths below /services/. */
  let views: (path: string, res: ServerResponse) => void;
  /** Answer of `/readyz?verbose`. */
  let readiness = "";

  const status = (code: number, message: string): [number, object] => [
    code,
    { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason: "Forbidden", code },
  ];
  const send = (res: ServerResponse, [code, body]: [number, object]): void => {
    res.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(body));
  };

  function answer({ url = "" }: IncomingMessage, res: ServerResponse): void {
    const [path = ""] = url.split("?");
    const [, cluster] = /\/clusters\/([^/]+)/.exec(path) ?? [];
    if (path === "/livez") res.end("ok");
    else if (path === "/readyz") res.end(readiness);
    else if (cluster !== undefined && cluster !== "root" && cluster !== "root:team")
      send(res, status(403, `forbidden: User "" cannot get path "${path}": workspace access not permitted`));
    else if (path.startsWith("/services/")) views(path, res);
    else if (path.endsWith("/selfsubjectreviews")) send(res, [201, { status: { userInfo: { username: "bob" } } }]);
    else if (path.endsWith("/workspaces"))
      send(res, [200, { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "WorkspaceList", items: TEAM, metadata: LIST }]);
    else send(res, status(404, "the server could not find the requested resource"));
  }
  const LIST = { resourceVersion: "1" };
  const TEAM = [{ apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name: "team" } }];

  before(async () => {
    const authority = createAuthority();
    folder = tree({ "ca.crt": authority.ca, kubeconfig: KUBECONFIG });
    server = createServer({ cert: authority.server.cert, key: authority.server.key }, answer);
    await once(server.listen(0, "127.0.0.1"), "listening");
  });
  beforeEach(() => {
    readiness = "[+]informer-sync ok\nreadyz check passed\n";
    views = (path, res) => send(res, status(403, `forbidden: User "bob" cannot get path "${path}"`));
  });
  after(() => {
    server.closeAllConnections();
    server.close();
    folder[Symbol.dispose]();
  });

  const through = (path: string): Promise<string> =>
    said(`https://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, [
      ...["--kubeconfig", join(folder.path, "kubeconfig"), "--token=bob-token"],
      ...["--certificate-authority", join(folder.path, "ca.crt")],
    ]);

  it("says that the front proxy does not know the logical cluster in the URL of a view", async () => {
    const failure = failureIn(await through("/services/published/clusters/nowhere"));
    expect(failure).to.match(/^FAILED .*: the front proxy knows no logical cluster "nowhere"\n/);
    expect(failure).to.include("spec.cluster").and.include("wait a few seconds if it is new");
    expect(failure).to.not.include("--requestheader");
  });

  it("says that the front proxy does not know the workspace, and suggests the name that was meant", async () => {
    const failure = failureIn(await through("/clusters/root:taem"));
    expect(failure).to.match(/^FAILED .*: the front proxy knows no workspace "root:taem"\n/);
    expect(failure).to.include('did you mean "root:team"?').and.include("wait a few seconds if it is new");
    expect(failure).to.not.include("clusterrolebinding");
  });

  it("does not say that the view is ready, and says that the front proxy does not reach the views", async () => {
    views = (_path, res) => void res.writeHead(502).end();
    const text = await through("/services/published/clusters/root");
    expect(text).to.match(
      /^ok +the server is ready: \/readyz answers ok, and has no check of the view "published", which another server may serve$/m,
    );
    const failure = failureIn(text);
    expect(failure).to.match(/^FAILED .*: the server at this address does not reach that of \/services: 502\n/);
    expect(failure).to.include("start the views").and.include("mapping file");
  });

  it("does not take checks of Kubernetes' servers for views", async () => {
    readiness = "[+]ping ok\n[+]etcd ok\n[+]poststarthook/start-informers ok\n[+]shutdown ok\nreadyz check passed\n";
    const failure = failureIn(await through("/services/published/clusters/root"));
    expect(failure).to.include("the path exists and denies this user");
    expect(failure).to.not.include("etcd").and.not.include("lists no");
  });
});

describe("virtual-workspaces doctor, through this project's front proxy", function () {
  this.timeout(120_000);
  let apart: Apart;
  let front: Serve;
  const file = (name: string): string => join(apart.folder.path, name);

  before(async () => {
    apart = await Apart.ready();
    const keys = apart.proxies.client("front-proxy", []);
    const own = apart.shard.text("admin.kubeconfig").replace("current-context: root", "current-context: shard-base");
    const texts = { "front.crt": keys.cert, "front.key": keys.key, "front.kubeconfig": own, kubeconfig: KUBECONFIG };
    for (const [name, text] of Object.entries(texts)) writeFileSync(file(name), text);
    writeFileSync(file("users.csv"), "alice-token,alice,1\n");
    const at = { proxy_client_cert: file("front.crt"), proxy_client_key: file("front.key") };
    const views = `https://127.0.0.1:${apart.wire.port}`;
    writeFileSync(
      file("mapping.yaml"),
      JSON.stringify([
        { path: "/clusters/", backend: apart.shard.url, backend_server_ca: apart.shard.path("apiserver.crt"), ...at },
        { path: "/services/", backend: views, backend_server_ca: file("ca.crt"), ...at },
      ]),
    );
    front = await Serve.ready([
      ...["front-proxy", "--mapping-file", file("mapping.yaml"), "--token-auth-file", file("users.csv")],
      ...["--root-kubeconfig", file("front.kubeconfig"), "--shards-kubeconfig", file("front.kubeconfig")],
      ...["--tls-cert-file", file("tls.crt"), "--tls-private-key-file", file("tls.key")],
      ...["--bind-address=127.0.0.1", "--secure-port=0"],
    ]);
  });
  after(async () => {
    await front?.[Symbol.asyncDispose]();
    await apart?.[Symbol.asyncDispose]();
  });

  const failure = async (path: string): Promise<string> =>
    failureIn(
      await said(`https://127.0.0.1:${front.port}${path}`, [
        ...["--kubeconfig", file("kubeconfig"), "--token=alice-token", "--certificate-authority", file("ca.crt")],
      ]),
    );

  it("says that no view has the name in the URL, and where the views list theirs", async () => {
    const text = await failure("/services/miror/clusters/root");
    expect(text).to.include("there is no virtual workspace at /services/miror");
    expect(text).to.include("check the name: the server of the views lists its views at /readyz?verbose");
    expect(text).to.not.include("the path exists");
  });

  it("says that it does not know the workspace", async () => {
    const text = await failure("/clusters/root:nowhere");
    expect(text).to.include('the front proxy knows no workspace "root:nowhere"');
  });
});
