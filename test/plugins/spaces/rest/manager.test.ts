// A manager with a remote provider over REST: creation, discovery, access and deletion, and an unreachable provider.
import {
  namespaceOf,
  type RestProviderOptions,
  restProvider,
  Space,
  type SpaceProvider,
} from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { Authority, SERVER_AUTH } from "../../../_support/certificates.ts";
import { until } from "../../../_support/until.ts";
import { KeptSpaces, kubeconfigOf } from "../support/kept-spaces.ts";
import { conditionOf, isReady, Management, messageOf, SECRET } from "../support/management.ts";
import { type Served, type ServedOptions, STRANGER, serve, TOKEN } from "./support/served.ts";

const HERE = namespaceOf("here");

describe("SpaceManager with a provider over REST", function () {
  this.timeout(30_000);
  let management: Management;
  let kept: KeptSpaces;
  let stack: AsyncDisposableStack;

  before(async () => {
    management = await Management.start();
  });
  after(() => management?.[Symbol.asyncDispose]());
  beforeEach(() => {
    stack = new AsyncDisposableStack();
    kept = new KeptSpaces();
  });
  afterEach(async () => {
    kept.before = () => undefined;
    await management.client
      .resource(Space)
      .deleteCollection()
      .catch(() => undefined);
    for (const { metadata } of (await management.client.resource(Space).list()).items)
      await management.removeSpace(metadata.namespace ?? "", metadata.name ?? "");
    await management.removeProvider("here");
    await stack.disposeAsync();
  });

  /** Starts a manager and creates a SpaceProviderDesc `here` for a served provider. */
  async function begin(
    { provider = kept, ...options }: ServedOptions & { readonly provider?: SpaceProvider } = {},
    rest: RestProviderOptions = {},
  ): Promise<Served> {
    const served = stack.use(await serve(provider, options));
    const manager = stack.use(management.manager({ types: { rest: restProvider(rest) } }));
    await manager.started;
    await management.provide("here", { type: "rest", secret: { url: served.url, token: TOKEN } });
    await management.untilProvider("here", (one) => conditionOf(one, "Ready") !== "");
    return served;
  }

  it("moves to another path, port and credential without a change to its Spaces", async () => {
    kept.set("one");
    const former = await begin();
    const before = await management.until(HERE, "one", isReady);
    const latter = stack.use(await serve(kept, { prefix: "/elsewhere", token: "latter" }));
    const url = `${new URL(latter.url).origin}/elsewhere`;
    await management.keep("provider-here", { url, token: "latter" });
    const list = kept.calls.filter((call) => call === "list").length;
    await until(() => kept.calls.filter((call) => call === "list").length > list);
    await former.close();
    kept.set("two");
    await management.until(HERE, "two", isReady);
    expect((await management.until(HERE, "one", isReady))?.metadata.resourceVersion).to.equal(
      before?.metadata.resourceVersion,
    );
    expect(conditionOf(await management.untilProvider("here", () => true), "Ready")).to.equal("True");
  });

  const provided = (is: string): Promise<unknown> =>
    management.untilProvider("here", (one) => conditionOf(one, "Ready") === is);

  /** Returns the kubeconfig of a Space's Secret. */
  async function kubeconfigIn(name: string, scope: string): Promise<string> {
    const secret = await management.client.resource(SECRET).in(HERE).get(`${scope}-${name}`);
    return Buffer.from(secret.data?.["kubeconfig"] ?? "", "base64").toString();
  }

  it("creates, discovers, reaches and deletes spaces", async () => {
    kept.set("found", { externalName: "else" });
    await begin();
    const found = await management.until(HERE, "found", isReady);
    expect(found?.spec.Type).to.equal("unmanaged");
    expect(found?.metadata.annotations).to.include({ "space-framework.io/service-provider-reference": "else" });
    kept.readyAtOnce = false;
    await management.make(HERE, "one");
    await management.until(HERE, "one", (space) => conditionOf(space, "Provided") === "False Initializing");
    kept.set("one", { phase: "Ready" });
    await management.until(HERE, "one", isReady);
    for (const scope of ["incluster", "external"])
      expect(await kubeconfigIn("one", scope)).to.equal(kubeconfigOf("one", "first"));
    kept.token = "second";
    kept.set("one", { accessVersion: "2" });
    while ((await kubeconfigIn("one", "external")) !== kubeconfigOf("one", "second"));
    kept.set("one", { phase: "Initializing", message: "it rests" });
    const rests = await management.until(HERE, "one", (space) => space?.status?.Phase === "NotReady");
    expect(messageOf(rests, "Ready")).to.equal("it rests");
    await management.removeSpace(HERE, "one");
    expect([...kept.spaces.keys()]).to.deep.equal(["found"]);
    kept.remove("found");
    await management.until(HERE, "found", (space) => space === undefined);
  });

  it("shows unsupported operations in conditions, and polls a provider without watch", async () => {
    const { list, get, access } = kept;
    const able = { list: list.bind(kept), get: get.bind(kept), access: access.bind(kept) };
    await begin({ provider: able });
    await management.make(HERE, "one");
    const one = await management.until(HERE, "one", (space) => conditionOf(space, "Provided") === "False CreateFailed");
    expect(messageOf(one, "Ready")).to.equal('the provider "here" cannot create spaces: set spec.Type to unmanaged');
    kept.set("later");
    await management.until(HERE, "later", isReady);
    await management.client
      .resource(Space)
      .in(HERE)
      .mergePatch("one", { spec: { Type: "unmanaged" } });
  });

  it("shows the provider's reason for a failure", async () => {
    await begin({ onError: () => undefined });
    kept.before = (call) => {
      if (call.startsWith("create")) throw new Error("no room\u001b[2J\nfor it");
    };
    await management.make(HERE, "one");
    const one = await management.until(HERE, "one", (space) => conditionOf(space, "Provided") === "False CreateFailed");
    expect(messageOf(one, "Ready")).to.match(
      /^PUT http:\/\/127\.0\.0\.1:\d+\/v1\/spaces\/one: 500 Internal error occurred: no room \[2J for it$/,
    );
    kept.before = () => undefined;
    await management.until(HERE, "one", isReady);
  });

  it("creates spaces below others if the provider has a hierarchy, and shows an error otherwise", async () => {
    const parents: (string | undefined)[] = [];
    const noted: SpaceProvider = {
      list: (call) => kept.list(call),
      get: (name, call) => kept.get(name, call),
      access: (name, call) => kept.access(name, call),
      delete: (name, call) => kept.delete(name, call),
      watch: (call) => kept.watch(call),
      create: (name, call) => {
        parents.push(call.parent);
        return kept.create(name, call);
      },
    };
    const below = { metadata: { annotations: { "kubestellar.io/space-path": "root:org" } } };
    const flat = await begin({ provider: noted });
    await management.make(HERE, "one", below);
    const one = await management.until(
      HERE,
      "one",
      (space) => conditionOf(space, "Provided") === "Unknown ProviderUnreachable",
    );
    expect(messageOf(one, "Provided")).to.match(/has no hierarchy: remove the annotation/);
    await flat.close();
    const { url } = stack.use(await serve(noted, { hierarchy: true }));
    await management.keep("provider-here", { url, token: TOKEN });
    await management.until(HERE, "one", isReady);
    expect(parents).to.deep.equal(["root:org"]);
  });

  it("treats nothing as deleted while a provider is unreachable, and continues when it is back", async () => {
    kept.set("found");
    const served = await begin();
    await management.make(HERE, "one");
    await management.until(HERE, "one", isReady);
    await management.until(HERE, "found", isReady);
    const port = Number(new URL(served.url).port);
    await served.close();
    await management.until(HERE, "one", (space) => conditionOf(space, "Provided") === "Unknown ProviderUnreachable");
    const found = await management.until(
      HERE,
      "found",
      (space) => conditionOf(space, "Provided") === "Unknown ProviderUnreachable",
    );
    expect(found?.status?.Phase).to.equal("Ready");
    const away = await management.untilProvider(
      "here",
      (one) => conditionOf(one, "Ready") === "False ProviderUnreachable",
    );
    expect(messageOf(away, "Ready")).to.match(/^GET http:\/\/127\.0\.0\.1:\d+\/v1\/spaces: /);
    expect(messageOf(away, "Ready")).not.to.include("/services");
    await management.client.resource(Space).in(HERE).delete("one");
    kept.spaces.delete("found");
    stack.use(await serve(kept, { port }));
    await management.until(HERE, "one", (space) => space === undefined);
    await management.until(HERE, "found", (space) => space === undefined);
    expect([...kept.spaces.keys()]).to.deep.equal([]);
  });

  it("shows that a credential is rejected, and continues with its replacement", async () => {
    kept.set("found");
    const served = await begin();
    await management.until(HERE, "found", isReady);
    const port = Number(new URL(served.url).port);
    await served.close();
    const rotated = stack.use(await serve(kept, { port, token: "rotated" }));
    const refused = await management.untilProvider("here", (one) => messageOf(one, "Ready").includes(" 401 "));
    expect(messageOf(refused, "Ready")).to.match(
      /401 Unauthorized: the provider rejects the credential: put one into the Secret that it accepts$/,
    );
    expect(isReady(await management.client.resource(Space).in(HERE).get("found"))).to.equal(true);
    await management.keep("provider-here", { url: rotated.url, token: "rotated" });
    await provided("True");
    await management.keep("provider-here", { url: rotated.url, token: STRANGER });
    const stranger = await management.untilProvider("here", (one) => conditionOf(one, "Ready") === "False OpenFailed");
    expect(messageOf(stranger, "Ready")).to.match(/403 .*does not authorize the user of the Secret$/);
  });

  it("opens a provider once it is ready", async () => {
    let problem: string | undefined = "it reads what there is";
    const ready = (): void => {
      if (problem !== undefined) throw new Error(problem);
    };
    await begin({ ready });
    const early = await management.untilProvider("here", (one) => conditionOf(one, "Ready") === "False OpenFailed");
    expect(messageOf(early, "Ready")).to.equal("the provider is not ready: it reads what there is");
    problem = undefined;
    await provided("True");
  });

  describe("shows what is wrong with a Secret:", () => {
    const wrong: Readonly<Record<string, readonly [Readonly<Record<string, string>>, RegExp]>> = {
      "no url": [{ token: TOKEN }, /^url: missing in the Secret: /],
      "a url without https": [
        { url: "http://provider.example.com", token: TOKEN },
        /^url: plain HTTP exposes the credential /,
      ],
      "a url that is not http": [
        { url: "file:///etc/passwd", token: TOKEN },
        /^url: invalid URL: use the URL of the provider/,
      ],
      "a password in the url": [
        { url: "https://me:secret@provider.example.com", token: TOKEN },
        /^url: user, password, query and fragment are not allowed/,
      ],
      "no credential": [{ url: "https://provider.example.com" }, /^token: the Secret has neither/],
      "half a certificate": [
        { url: "https://provider.example.com", "tls.crt": "x" },
        /^tls\.crt and tls\.key go together/,
      ],
      "an invalid CA certificate": [
        { url: "https://provider.example.com", token: TOKEN, "ca.crt": "x" },
        /^ca\.crt: invalid certificates: use PEM/,
      ],
      "an invalid token": [{ url: "https://provider.example.com", token: "a b" }, /^token: invalid characters/],
    };
    for (const [what, [secret, message]] of Object.entries(wrong))
      it(what, async () => {
        const { open } = restProvider();
        const opened = async () =>
          open({ name: "here", secret, log: () => undefined, signal: new AbortController().signal });
        const error = await opened().then(
          () => undefined,
          (failed: Error) => failed,
        );
        expect(error?.message).to.match(message);
        expect(error?.message).not.to.match(/secret@|managers-token|passwd/);
      });
  });

  it("connects only to allowed URLs, and trusts the CA certificate of the Secret", async () => {
    const [own, other] = [Authority.root("own"), Authority.root("other")];
    const tls = own.issue({ name: "127.0.0.1", usages: [SERVER_AUTH] });
    const { url } = stack.use(await serve(kept, { server: { tls: { cert: tls.cert, key: tls.key } } }));
    const open = async (secret: Readonly<Record<string, string>>, options: RestProviderOptions = {}) => {
      await using provider = (await restProvider(options).open({
        name: "here",
        secret,
        log: () => undefined,
        signal: new AbortController().signal,
      })) as SpaceProvider & AsyncDisposable;
      return await provider.list({ parent: undefined, signal: new AbortController().signal });
    };
    const failed = (opening: Promise<unknown>): Promise<string> =>
      opening.then(
        () => "it was opened",
        (error: Error) => error.message,
      );
    expect(await open({ url, token: TOKEN, "ca.crt": own.cert })).to.deep.equal([]);
    expect(await failed(open({ url, token: TOKEN, "ca.crt": other.cert }))).to.match(/^GET https:.*certificate/);
    expect(await failed(open({ url, token: TOKEN }))).to.match(/certificate/);
    const rewrite = (asked: string, provider: string): string => {
      if (asked.startsWith("https://provider.example.com/") && provider === "here") return url;
      throw new Error("nobody is asked there");
    };
    const elsewhere = { url: "https://provider.example.com/x", token: TOKEN, "ca.crt": own.cert };
    expect(await open(elsewhere, { rewrite })).to.deep.equal([]);
    expect(await failed(open({ url, token: TOKEN }, { rewrite }))).to.equal("nobody is asked there");
    const plain = { url: url.replace("https:", "http:"), token: TOKEN };
    expect(await failed(open(plain, { mayAskPlain: () => false }))).to.match(/^url: plain HTTP/);
    const { mountedServers } = await import("@virtual-workspaces/mounts");
    const whose = "providers";
    const restricted = failed(open({ url, token: TOKEN, "ca.crt": own.cert }, mountedServers({ whose })));
    expect(await restricted).to.match(/its address is restricted for providers: ask the operator/);
    const allowed = mountedServers({ allow: ["127.0.0.1"] });
    expect(await open({ url, token: TOKEN, "ca.crt": own.cert }, allowed)).to.deep.equal([]);
  });

  it("rejects invalid time limits", () => {
    expect(() => restProvider({ timeout: 0 })).to.throw(/^invalid timeout of restProvider: use at least 1 ms/);
    expect(() => restProvider({ silence: Number.NaN })).to.throw(/^invalid silence of restProvider/);
  });
});
