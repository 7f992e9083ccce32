// `virtual-workspaces start`: its credentials, what survives a restart, start and shutdown.
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { issueCertificate } from "@virtual-workspaces/framework/tls";
import { expect } from "chai";
import { tree } from "../_setup/tree.ts";
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { Start } from "./support/start.ts";

const CONFIG_MAP = "/clusters/root/api/v1/namespaces/default/configmaps";
const SA_FILES = [
  ".admin-token-store",
  ".console-session-key",
  ".gitignore",
  "admin.kubeconfig",
  "apiserver.crt",
  "apiserver.key",
];

describe("virtual-workspaces start", function () {
  this.timeout(60_000);
  before(needsKubectl);

  it("serves kubectl by each context of its kubeconfig", async () => {
    await using server = await Start.ready();
    expect(server.lines[1]).to.equal(`export KUBECONFIG=${server.path("admin.kubeconfig")}`);
    expect(server.lines[2]).to.equal(`export PATH=${server.path("bin")}:$PATH  # kubectl ws`);
    expect(await server.kubectl("get", "workspacetypes", "-o", "name")).to.equal(
      `0 ${["home", "organization", "root", "team", "universal"].map((name) => `workspacetype.tenancy.kcp.io/${name}`).join("\n")}`,
    );
    expect(
      await server.kubectl("--context", "root", "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"),
    ).to.equal("0 kcp-admin");
    expect(
      await server.kubectl("--context=system:admin", "get", "clusterrole", "cluster-admin", "-o", "name"),
    ).to.equal("0 clusterrole.rbac.authorization.k8s.io/cluster-admin");
    for (const context of ["base", "shard-base"])
      for (const probe of ["/livez", "/readyz", "/healthz"])
        expect(await server.kubectl("--context", context, "get", "--raw", probe), `${context} ${probe}`).to.equal(
          "0 ok",
        );
    const wildcard = "/clusters/*/api/v1/namespaces";
    expect(await server.kubectl("--context=shard-base", "get", "--raw", wildcard)).to.match(/^0 .*"NamespaceList"/);
    expect(await server.kubectl("--context=base", "get", "--raw", wildcard)).to.match(/^1 .*\(Forbidden\)/);
    expect(await server.kubectl("--context=base", "get", "--raw", `${CONFIG_MAP}`)).to.match(/^0 .*"ConfigMapList"/);
    expect(readdirSync(server.path("")).sort()).to.deep.equal(
      [...SA_FILES, "bin", "client-ca.crt", "client-ca.key", "data", "lock", "sa.key"].sort(),
    );
    for (const name of [
      "admin.kubeconfig",
      ".admin-token-store",
      ".console-session-key",
      "apiserver.key",
      "client-ca.key",
      "sa.key",
    ])
      expect(statSync(server.path(name)).mode & 0o777, name).to.equal(0o600);
    expect(statSync(server.path("")).mode & 0o777).to.equal(0o700);
    expect(await server.end("SIGTERM")).to.equal(0);
  });

  it("starts again with its data and the token of shard-admin, but a new token of kcp-admin", async () => {
    await using first = await Start.ready();
    expect(await first.kubectl("create", "configmap", "a", "--from-literal=x=y")).to.equal("0 configmap/a created");
    const before = ["shard-admin", "kcp-admin"].map((user) => first.token(user));
    const keys = ["sa.key", "client-ca.crt", "apiserver.crt"].map((name) => first.text(name));
    expect(await first.end("SIGINT")).to.equal(0);
    expect(first.has("lock"), "nothing is held").to.equal(false);

    await using second = await Start.ready({ in: first.folder.path });
    expect(await second.kubectl("get", "configmap", "a", "-o", "jsonpath={.data.x}")).to.equal("0 y");
    expect(second.token("shard-admin")).to.equal(before[0]);
    expect(second.token("kcp-admin")).not.to.equal(before[1]);
    expect(["sa.key", "client-ca.crt", "apiserver.crt"].map((name) => second.text(name))).to.deep.equal(keys);
    expect((await second.get(CONFIG_MAP, { token: before[0] ?? "" })).code).to.equal(200);
    expect((await second.get(CONFIG_MAP, { token: before[1] ?? "" })).code).to.equal(401);
    expect(await second.kubectl("create", "configmap", "b")).to.equal("0 configmap/b created");

    expect(await second.end("SIGKILL")).to.equal(null);
    await using third = await Start.ready({ in: first.folder.path });
    expect(await third.kubectl("get", "configmaps", "a", "b", "-o", "name")).to.equal("0 configmap/a\nconfigmap/b");
  });

  it("authenticates users of its own authority and of a token file, and anonymous ones", async () => {
    using files = tree({ "tokens.csv": 'secret,alice,1,"system:kcp:admin"\nplain,bob,2\n' });
    const flags = ["--token-auth-file", join(files.path, "tokens.csv")];
    await using server = await Start.ready({ flags });
    expect((await server.get(CONFIG_MAP, { token: "secret" })).code).to.equal(200);
    expect((await server.get(CONFIG_MAP, { token: "plain" })).body).to.include('User \\"bob\\" cannot list');
    expect((await server.get(CONFIG_MAP)).body).to.include('User \\"system:anonymous\\" cannot list');
    expect((await server.get(CONFIG_MAP, { token: "wrong" })).code).to.equal(401);
    const authority = { cert: server.text("client-ca.crt"), key: server.text("client-ca.key") };
    const subject = { name: "carol", groups: ["system:kcp:admin"] };
    const now = new Date();
    const pair = await issueCertificate({ subject, purpose: { kind: "client" }, now }, authority);
    const req = request(server.url + CONFIG_MAP, { ca: server.text("apiserver.crt"), ...pair, agent: false }).end();
    const [res] = (await once(req, "response")) as [{ readonly statusCode: number; resume(): void }];
    res.resume();
    expect(res.statusCode).to.equal(200);
  });

  it("rejects anonymous requests except probes, if a flag says so", async () => {
    await using server = await Start.ready({ flags: ["--anonymous-auth=false"] });
    expect((await server.get(CONFIG_MAP)).code).to.equal(401);
    expect(await server.get("/livez")).to.deep.equal({ code: 200, body: "ok" });
    expect((await server.get("/readyz?verbose")).body).to.equal(
      "[+]shutdown ok\n[+]clusters ok\n[+]shard ok\n[+]workspaces ok\n[+]cache ok\n[+]apiexport ok\n[+]apiresourceschema ok\n[+]initializingworkspaces ok\n[+]terminatingworkspaces ok\n[+]preparingworkspaces ok\n[+]query ok\n[+]store ok\n[+]shards ok\nreadyz check passed\n",
    );
  });

  it("has no administrators without that battery, and a plain user with another", async () => {
    await using none = await Start.ready({ flags: ["--batteries-included=workspace-types"] });
    expect(none.lines.filter((line) => !line.startsWith("Console: https://"))).to.have.length(1);
    expect(none.has("admin.kubeconfig")).to.equal(false);
    await using user = await Start.ready({ flags: ["--batteries-included=+user"] });
    expect(
      await user.kubectl("--context=user", "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"),
    ).to.equal("0 user");
    expect(await user.kubectl("--context=user", "get", "configmaps")).to.match(
      /^1 .*\(Forbidden\).*User "user" cannot list/,
    );
  });

  it("writes audit events and logs to the place and in the format of the flags", async () => {
    const policy = { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] };
    using files = tree({ "policy.yaml": JSON.stringify(policy) });
    const audit = join(files.path, "audit.log");
    const flags = ["--audit-policy-file", join(files.path, "policy.yaml"), "--audit-log-path", audit];
    await using server = await Start.ready({
      flags: [...flags, "--logging-format=json", "--v=4", "--goaway-chance=0.1"],
    });
    expect(await server.kubectl("create", "configmap", "a")).to.equal("0 configmap/a created");
    expect(await server.end("SIGTERM")).to.equal(0);
    const events = readFileSync(audit, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const created = events.find(({ verb, stage }) => verb === "create" && stage === "ResponseComplete");
    expect(created).to.include({ level: "Metadata" });
    expect(created.user.username).to.equal("kcp-admin");
    expect(Object.keys(created.annotations).join()).to.match(/request\.auth\.kcp\.io\/.*-decision/);
    const records: readonly Record<string, unknown>[] = server.stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const messages = records.map(({ message }) => message);
    const codes = records.filter(({ message }) => message === "HTTP").map(({ code }) => code);
    expect(messages).to.include("--goaway-chance is accepted and ignored: it has no effect");
    expect(codes).to.include(201);
  });

  it("fails /readyz during the shutdown delay after a signal, and ends at once after a second one", async () => {
    await using server = await Start.ready({ flags: ["--shutdown-delay-duration=1h"] });
    const token = server.token("kcp-admin");
    server.signal("SIGTERM");
    while ((await server.get("/readyz")).code !== 503);
    expect((await server.get("/livez")).code).to.equal(200);
    expect((await server.get(CONFIG_MAP, { token })).code).to.equal(200);
    expect(await server.end("SIGINT")).to.equal(1);
  });

  it("ends cleanly while it waits for its store", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    await using server = new Start({ flags: [`--etcd-servers=http://127.0.0.1:${port}`] });
    const [socket] = (await once(silent, "connection")) as [Socket];
    socket.on("error", () => undefined).resume();
    const began = performance.now();
    expect(await server.end("SIGTERM")).to.equal(0);
    expect(performance.now() - began).to.be.below(5000);
    expect(server.lines).to.deep.equal([]);
    expect(server.has("lock")).to.equal(false);
    await once(silent.close(), "close");
  });

  it("uses the given names and keys", async () => {
    const now = new Date();
    const authority = await issueCertificate({
      subject: { name: "ca", groups: [] },
      purpose: { kind: "authority" },
      now,
    });
    const purpose = { kind: "server", hosts: ["localhost"], addresses: ["127.0.0.1"] } as const;
    const own = await issueCertificate({ subject: { name: "own", groups: [] }, purpose, now }, authority);
    using files = tree({ "tls.crt": own.cert + authority.cert, "tls.key": own.key });
    const at = (name: string): string => join(files.path, name);
    await using server = await Start.ready({
      flags: [
        `--tls-cert-file=${at("tls.crt")}`,
        `--tls-private-key-file=${at("tls.key")}`,
        `--kubeconfig-path=${at("deep/k.config")}`,
        "--external-hostname=localhost",
        "--shard_external_url=https://kcp.example.com/",
      ],
    });
    expect(server.url).to.match(/^https:\/\/localhost:\d+$/);
    expect(server.has("apiserver.crt"), "none is made").to.equal(false);
    const home = { home: files.path, kubeconfig: at("deep/k.config") };
    writeFileSync(server.path("admin.kubeconfig"), readFileSync(home.kubeconfig));
    const said = await server.kubectl("get", "shards", "root", "-o", "jsonpath={.spec.baseURL} {.spec.externalURL}");
    expect(said).to.equal(`0 ${server.url} https://kcp.example.com`);
  });
});
