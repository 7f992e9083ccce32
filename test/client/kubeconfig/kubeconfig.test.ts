// Our kubeconfig reader must agree with kubectl. If kubectl is installed, each test compares both.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, Informer, loadKubeconfig } from "@virtual-workspaces/client";
import { authenticated, defineVirtualWorkspace, staticTokens } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { type Tree, tree } from "../../_setup/tree.ts";
import { Note } from "../../_support/note.ts";
import { kubeconfigHome, startTls, type TlsServer } from "../../_support/server.ts";
import { type Whoami, whoami } from "../../_support/whoami.ts";
import { rejected } from "../thrown.ts";

const run = promisify(execFile);
const base64 = (text: string): string => Buffer.from(text).toString("base64");

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
}

describe("a kubeconfig", () => {
  let server: TlsServer;
  let folder: Tree;
  before(async () => {
    server = await startTls([whoami()]);
  });
  after(() => server.close());
  beforeEach(() => {
    folder = tree({ "ca.crt": server.authority.ca });
  });
  afterEach(() => folder[Symbol.dispose]());

  /** Writes a kubeconfig with a context `c`. */
  function write({ cluster, user, context }: Parts, name = "config"): string {
    const file = join(folder.path, name);
    const config = {
      "current-context": "c",
      clusters: [
        {
          name: "k",
          cluster: {
            server: `https://127.0.0.1:${server.port}/services/who`,
            "certificate-authority": "ca.crt",
            ...cluster,
          },
        },
      ],
      users: [{ name: "u", user: user ?? { token: "alice-token" } }],
      contexts: [{ name: "c", context: { cluster: "k", user: "u", ...context } }],
    };
    writeFileSync(file, JSON.stringify(config));
    return file;
  }

  async function ours(file: string): Promise<string> {
    await using client = await Client.fromKubeconfig({ file, retries: false });
    const { body } = await client.upstream.send({ path: "/x", headers: [] });
    const { name, groups, extra } = JSON.parse(body.toString()) as Whoami;
    return JSON.stringify({ name, groups, extra });
  }

  async function kubectls(file: string): Promise<string> {
    const env = { PATH: process.env["PATH"], HOME: folder.path };
    const running = run("kubectl", ["--kubeconfig", file, "get", "--raw", "/services/who/x"], { env });
    // kubectl prompts for a missing user name.
    running.child.stdin?.end();
    const { stdout } = await running;
    const { name, groups, extra } = JSON.parse(stdout) as Whoami;
    return JSON.stringify({ name, groups, extra });
  }

  const accepted: Readonly<Record<string, () => Parts>> = {
    "a token": () => ({}),
    "a token in a file": () => {
      writeFileSync(join(folder.path, "token"), "alice-token\n");
      return { user: { token: "another", tokenFile: "token" } };
    },
    "an embedded client certificate": () => {
      const { cert, key } = server.authority.client("ann", ["admins"]);
      return { user: { "client-certificate-data": base64(cert), "client-key-data": base64(key) } };
    },
    "a client certificate in files": () => {
      const { cert, key } = server.authority.client("bob", []);
      writeFileSync(join(folder.path, "b.crt"), cert);
      writeFileSync(join(folder.path, "b.key"), key);
      return { user: { "client-certificate": "b.crt", "client-key": join(folder.path, "b.key") } };
    },
    "an embedded authority": () => ({
      cluster: { "certificate-authority": "", "certificate-authority-data": base64(server.authority.ca) },
    }),
    "insecure-skip-tls-verify and no authority": () => ({
      cluster: { "certificate-authority": "", "insecure-skip-tls-verify": true },
    }),
    "another server name": () => ({ cluster: { "tls-server-name": "localhost" } }),
  };
  for (const [name, parts] of Object.entries(accepted))
    it(`is accepted with ${name}`, async () => {
      const file = write({ ...parts() });
      expect(await ours(file)).to.equal(await kubectls(file).catch(() => "kubectl refuses"));
    });

  const refused: Readonly<Record<string, readonly [Parts, RegExp]>> = {
    "two ways to authenticate": [
      { user: { token: "secret", username: "u", password: "secret" } },
      /users\[u\]\.user: more than one way/,
    ],
    "a certificate without its key": [
      { user: { "client-certificate-data": base64("-----BEGIN x") } },
      /go together: the second is missing/,
    ],
    "a certificate given twice": [
      { user: { "client-certificate-data": "secret", "client-certificate": "ca.crt" } },
      /both set: remove one/,
    ],
    "a missing file": [
      { user: { "client-certificate": "no.crt", "client-key": "no.key" } },
      /client-certificate: .*no\.crt cannot be read: ENOENT/,
    ],
    "an authority and insecure-skip-tls-verify": [
      { cluster: { "insecure-skip-tls-verify": true } },
      /both set: remove one/,
    ],
    "no server": [{ cluster: { server: "" } }, /clusters\[k\]\.cluster\.server is empty: set the URL/],
    "an unknown cluster": [
      { context: { cluster: "other" } },
      /contexts\[c\]\.context\.cluster: unknown cluster "other"/,
    ],
    "an unknown user": [{ context: { user: "other" } }, /unknown user "other"/],
    "groups to impersonate without a user": [
      { user: { token: "secret", "as-groups": ["g"] } },
      /require as: set the user's name/,
    ],
    "both plugins": [
      {
        user: {
          exec: { command: "x", apiVersion: "client.authentication.k8s.io/v1", interactiveMode: "Never" },
          "auth-provider": { name: "oidc" },
        },
      },
      /auth-provider and exec are both set: remove one/,
    ],
    "a plugin without a version": [{ user: { exec: { command: "true" } } }, /exec\.apiVersion: use client\.auth/],
    "a plugin without a mode": [
      { user: { exec: { command: "true", apiVersion: "client.authentication.k8s.io/v1" } } },
      /interactiveMode: use Never/,
    ],
  };
  for (const [name, [parts, message]] of Object.entries(refused))
    it(`is rejected with ${name}`, async () => {
      const file = write(parts);
      const error = await rejected(loadKubeconfig({ file }));
      expect(error.message)
        .to.match(message)
        .and.include(name === "a missing file" ? "users[u]" : folder.path)
        .and.not.include("secret");
      expect(await kubectls(file).catch(() => "refused")).to.equal("refused");
    });

  it("is rejected with a proxy, a URL with a password, values of wrong types or invalid YAML, without showing secrets", async () => {
    const cases: readonly (readonly [Parts, RegExp])[] = [
      [{ cluster: { "proxy-url": "http://u:secret@p" } }, /proxy-url: proxies are not supported/],
      [{ cluster: { server: "https://u:secret@h" } }, /server: remove the credentials/],
      [{ user: { token: 12345 } }, /token must be a string: put it in quotes/],
      [{ user: { token: "secret\nX: y" } }, /token contains line breaks: remove them/],
      [{ user: { token: "x", as: "a", "as-groups": "g" } }, /as-groups must be a list/],
    ];
    for (const [parts, message] of cases)
      expect((await rejected(loadKubeconfig({ file: write(parts) }))).message)
        .to.match(message)
        .and.not.include("secret");
    const file = join(folder.path, "yaml");
    for (const text of ["users:\n- token: secret\n {", "token: *secret", "token: !<secret> x", "- secret", "secret"]) {
      writeFileSync(file, text);
      expect((await rejected(loadKubeconfig({ file }))).message)
        .to.include(file)
        .and.not.include("secret");
    }
  });

  it("sets the impersonated user", async () => {
    const file = write({
      user: { token: "t", as: "ann", "as-uid": "7", "as-groups": ["g"], "as-user-extra": { "a/b": ["x", "y"] } },
    });
    const { impersonate, credentials } = { ...(await loadKubeconfig({ file })), credentials: undefined };
    expect(impersonate).to.deep.equal({ name: "ann", uid: "7", groups: ["g"], extra: { "a/b": ["x", "y"] } });
    expect(credentials).to.equal(undefined);
  });

  it("supports an auth-provider as client-node does, and its errors show no secrets", async () => {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
    const jwt = `${part({ alg: "none" })}.${part({ exp: Math.floor(Date.now() / 1000) + 3_600 })}.x`;
    const config = { "client-id": "c", "idp-issuer-url": "http://127.0.0.1:1", "client-secret": "secret" };
    const provider = (more: object): object => ({ "auth-provider": { name: "oidc", config: { ...config, ...more } } });
    const { upstream } = await loadKubeconfig({ file: write({ user: provider({ "id-token": jwt }) }) });
    expect(await upstream.credentials?.get()).to.deep.equal({ headers: ["Authorization", `Bearer ${jwt}`] });
    const none = (await loadKubeconfig({ file: write({ user: provider({}) }) })).upstream.credentials;
    expect((await rejected(Promise.resolve(none?.get()))).message)
      .to.match(/users\[u\]\.user\.auth-provider: oidc returned no token: use exec instead$/)
      .and.not.include("secret");
  });

  it("supports basic authentication", async () => {
    const { upstream } = await loadKubeconfig({ file: write({ user: { username: "ann", password: "p:é" } }) });
    expect(await upstream.credentials?.get()).to.deep.equal({
      headers: ["Authorization", `Basic ${base64("ann:p:é")}`],
    });
  });

  it("splits the logical cluster off the server's URL", async () => {
    const cases = [
      ["/clusters/root:org", "", "root:org"],
      ["/services/x/clusters/*", "/services/x", "*"],
      ["/services/x/", "/services/x/", undefined],
    ] as const;
    for (const [path, left, cluster] of cases) {
      const file = write({ cluster: { server: `https://h:6443${path}` }, context: { namespace: "sea" } });
      const loaded = await loadKubeconfig({ file });
      expect([loaded.upstream.url, loaded.cluster, loaded.namespace, loaded.context]).to.deep.equal([
        `https://h:6443${left}`,
        cluster,
        "sea",
        "c",
      ]);
      await using client = new Client(loaded);
      expect(client.cluster("root:x").clusterName).to.equal("root:x");
    }
  });

  it("is merged from several files, the first one wins, and missing files are empty", async () => {
    const first = write({ user: { token: "first" } }, "first");
    const second = join(folder.path, "second");
    writeFileSync(
      second,
      "current-context: other\nusers:\n- {name: u, user: {token: second, as: nobody}}\n- {name: v, user: {token: v}}\ncontexts:\n- {name: d, context: {cluster: k, user: v}}\n",
    );
    const env = { KUBECONFIG: `/no/such/file:${first}:${second}:` };
    const header = async (context?: string): Promise<unknown> =>
      (await (await loadKubeconfig({ env, context })).upstream.credentials?.get())?.headers?.[1];
    expect([await header(), await header("d")]).to.deep.equal(["Bearer first", "Bearer v"]);
    expect((await loadKubeconfig({ env })).impersonate).to.equal(undefined);
    expect((await rejected(loadKubeconfig({ env, context: "e" }))).message).to.equal(
      'context "e" does not exist: there are c, d',
    );
    const { stdout } = await run(
      "kubectl",
      ["config", "view", "--raw", "-o", "jsonpath={.users[*].user.token} {.users[*].user.as} {.current-context}"],
      { env: { ...env, PATH: process.env["PATH"], HOME: folder.path } },
    );
    expect(stdout.split(/\s+/)).to.deep.equal(["first", "v", "c"]);
  });

  it("defaults to the home directory's, then the pod's service account, whose token is read again", async () => {
    const env = { HOME: folder.path, KUBERNETES_SERVICE_HOST: "::1", KUBERNETES_SERVICE_PORT: "443" };
    expect((await rejected(loadKubeconfig({ env, serviceAccount: folder.path }))).message).to.include(
      `no kubeconfig found: ${join(folder.path, ".kube", "config")} does not exist: set KUBECONFIG to a file that exists`,
    );
    const named = { ...env, KUBECONFIG: "/nope:/nope/either" };
    expect((await rejected(loadKubeconfig({ env: named, serviceAccount: folder.path }))).message).to.equal(
      "no kubeconfig found: /nope, /nope/either do not exist: set KUBECONFIG to a file that exists",
    );
    writeFileSync(join(folder.path, "token"), "one\n");
    const pod = await loadKubeconfig({ env, serviceAccount: folder.path });
    expect([pod.upstream.url, pod.upstream.tls, pod.namespace]).to.deep.equal([
      "https://[::1]:443",
      { ca: server.authority.ca },
      "default",
    ]);
    const { credentials } = pod.upstream;
    const one = await credentials?.get();
    expect(one?.headers).to.deep.equal(["Authorization", "Bearer one"]);
    expect(await credentials?.get()).to.equal(one);
    writeFileSync(join(folder.path, "token"), "other");
    if (one !== undefined) credentials?.refused?.(one);
    expect((await credentials?.get())?.headers?.[1]).to.equal("Bearer other");
    const home = tree({
      ".kube/config":
        "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, cluster: {server: 'http://h'}}]\n",
    });
    expect((await loadKubeconfig({ env: { ...env, HOME: home.path } })).upstream).to.deep.equal({
      url: "http://h",
      tls: {},
    });
    home[Symbol.dispose]();
  });

  it("reads a replaced token after a 401, within the same request", async () => {
    await using other = await startTls([whoami()], {
      authority: server.authority,
      authentication: [staticTokens({ new: { name: "ann" } })],
    });
    const path = join(folder.path, "token");
    writeFileSync(path, "old");
    const file = write({
      cluster: { server: `https://127.0.0.1:${other.port}/services/who` },
      user: { tokenFile: "token" },
    });
    await using client = await Client.fromKubeconfig({ file });
    expect((await client.upstream.send({ path: "/x" })).status).to.equal(401);
    writeFileSync(path, "new");
    expect((await client.upstream.send({ path: "/x" })).status).to.equal(200);
  });

  it("of kubectl is sufficient for an informer", async () => {
    const notes = Note.collection();
    const view = defineVirtualWorkspace({
      name: "notes",
      path: "/clusters/:cluster",
      authorize: authenticated(),
      resources: [Note.serve(notes)],
    });
    await using served = await startTls([view]);
    const contexts = { notes: "/services/notes/clusters/root" };
    for (const user of ["admin", "alice"] as const) {
      using home = await kubeconfigHome({ ...served, contexts, user });
      const env = { PATH: process.env["PATH"], HOME: home.home, KUBECONFIG: home.kubeconfig };
      await using client = await Client.fromKubeconfig({ env });
      expect(client.clusterName).to.equal("root");
      await using informer = new Informer({ resource: client.resource(Note) }).start();
      await informer.synced;
      const events = informer.events();
      notes.in("root").set(`of-${user}`, { text: "x" });
      for await (const { type, key } of events) if (type === "added" && key.name === `of-${user}`) break;
      const { stdout } = await run("kubectl", ["get", "notes", "-o", "name"], { env });
      expect(
        stdout
          .trim()
          .split("\n")
          .map((name) => name.split("/")[1]),
      ).to.have.members(informer.store.list().map(({ metadata }) => metadata.name));
    }
  });
});
