// What a program sees of an informer that cannot read: by default a process warning for each reason.
import { Client, controller, Informer, type InformerOptions } from "@virtual-workspaces/client";
import { authenticated, staticTokens } from "@virtual-workspaces/framework";
import { anonymous } from "@virtual-workspaces/framework/authn";
import type { UpstreamOptions } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { expectFault } from "../../_setup/faults.ts";
import { freePort } from "../../_support/free-ports.ts";
import { startTls } from "../../_support/server.ts";
import { until } from "../../_support/until.ts";
import { added, bookmark, Scripted } from "./scripted.ts";
import { NOTE, type NoteContent, Notes, QUICK } from "./support.ts";

const bearer = (token: string) => ({ get: () => ({ headers: ["Authorization", `Bearer ${token}`] }) });

/** Warnings of the process since the start, without their ends of line. */
class Warnings implements Disposable {
  readonly texts: string[] = [];
  readonly #hear = ({ name, message }: Error): void => {
    if (name === "InformerWarning") this.texts.push(message);
  };

  constructor() {
    process.on("warning", this.#hear);
  }

  /** Waits for the given number of warnings, and for several more attempts of the informer. */
  async after(informer: Informer<NoteContent>, count: number): Promise<readonly string[]> {
    await until(() => this.texts.length >= count, { what: "the warnings" });
    const { errors } = informer.metrics;
    await until(() => informer.connected || informer.metrics.errors >= errors + 3, { what: "more attempts" });
    return this.texts;
  }

  [Symbol.dispose](): void {
    process.off("warning", this.#hear);
    if (this.texts.length > 0) expectFault(/informer of notes/);
  }
}

/** Informer of notes without any handler. */
class Plain implements AsyncDisposable {
  readonly client: Client;
  readonly informer: Informer<NoteContent>;

  constructor(upstream: UpstreamOptions, options: Partial<InformerOptions<NoteContent>> = {}) {
    this.client = new Client({ upstream, cluster: "root" });
    this.informer = new Informer({ ...QUICK, resource: this.client.resource(NOTE), ...options }).start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.informer.stop();
    await this.client[Symbol.asyncDispose]();
  }
}

const COLLECTION = "services/notes/clusters/root/apis/test.dev/v1/notes";

describe("an informer that cannot read", () => {
  it("warns once of a wrong token, with URL and remedy and without the token, and reports that it reads again", async () => {
    using warnings = new Warnings();
    let token = "s3cret";
    await using server = await Notes.start();
    const url = `http://127.0.0.1:${server.port}/services/notes`;
    await using plain = new Plain({ url, credentials: { get: () => bearer(token).get() } });
    expect([...(await warnings.after(plain.informer, 1))]).to.eql([
      `informer of notes cannot read http://127.0.0.1:${server.port}/${COLLECTION}: the server rejects the credentials (401 Unauthorized): check the token or client certificate`,
    ]);
    token = "alice";
    await plain.informer.synced;
    expect((await warnings.after(plain.informer, 2)).slice(1)).to.eql([
      `informer of notes reads http://127.0.0.1:${server.port}/${COLLECTION} again`,
    ]);
  });

  it("warns again when the reason changes: connection refused, then forbidden with the missing permission", async () => {
    using warnings = new Warnings();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}/services/notes`;
    await using plain = new Plain({ url, credentials: bearer("alice") });
    expect([...(await warnings.after(plain.informer, 1))]).to.eql([
      `informer of notes cannot read http://127.0.0.1:${port}/${COLLECTION}: connection refused by 127.0.0.1:${port}: start the server, or check host and port`,
    ]);
    await using _server = await Notes.start({ port, authorize: () => ({ allowed: false, reason: "not a cook" }) });
    const [, second = "", ...more] = await warnings.after(plain.informer, 2);
    expect(more).to.eql([]);
    expect(second).to.match(
      /^informer of notes cannot read http:\S+: notes\.test\.dev is forbidden: User "alice" cannot /,
    );
    expect(second)
      .to.contain("not a cook")
      .and.to.match(/: grant this user list and watch$/);
  });

  it("names the missing credentials of an anonymous request", async () => {
    using warnings = new Warnings();
    await using server = await Notes.start({ authorize: authenticated(), authentication: [anonymous()] });
    await using plain = new Plain({ url: `http://127.0.0.1:${server.port}/services/notes` });
    const [first = ""] = await warnings.after(plain.informer, 1);
    expect(first).to.match(/: the request has no credentials: set credentials of the client's upstream$/);
  });

  it("says that the server does not serve the kind", async () => {
    using warnings = new Warnings();
    await using server = await Notes.start();
    const upstream = { url: `http://127.0.0.1:${server.port}/services/notes`, credentials: bearer("alice") };
    const client = new Client({ upstream, cluster: "root" });
    const resource = client.resource<NoteContent>({ ...NOTE, version: "v9" });
    await using plain = new Plain(upstream, { resource });
    expect([...(await warnings.after(plain.informer, 1))]).to.eql([
      `informer of notes cannot read http://127.0.0.1:${server.port}/${COLLECTION.replace("v1", "v9")}: the server does not serve notes of test.dev/v9 (404): check the path of the URL, and group, version and plural of the kind`,
    ]);
    await client[Symbol.asyncDispose]();
  });

  it("says that it does not trust the server's certificate", async () => {
    using warnings = new Warnings();
    await using server = await startTls([]);
    await using plain = new Plain({ url: `https://127.0.0.1:${server.port}/services/notes` });
    const [first = ""] = await warnings.after(plain.informer, 1);
    expect(first).to.match(
      /: the server's certificate is not trusted: .+: set tls\.ca of the client's upstream, or certificate-authority of the kubeconfig, to the authority that issued it$/,
    );
  });

  /** Starts a server that is busy with these `Retry-After` first, and an informer. Returns what it reports. */
  async function busyFor(waits: readonly string[], stack: AsyncDisposableStack) {
    const server = stack.use(
      await Scripted.start((_asked, answer) => {
        const wait = waits[server.asked.length - 1];
        if (wait === undefined) answer.events(added("a", "10"), bookmark("10", true));
        else answer.status(429, "TooManyRequests", { "Retry-After": wait });
      }),
    );
    const errors: string[] = [];
    const onError = ({ message }: Error): void => void errors.push(message);
    const { informer } = stack.use(new Plain({ url: `http://127.0.0.1:${server.port}/services/notes` }, { onError }));
    return { server, informer, errors };
  }

  it("does not report a server that asks to come back in a second, as one that starts does", async () => {
    await using stack = new AsyncDisposableStack();
    const { informer, errors } = await busyFor(["1"], stack);
    await informer.synced;
    expect(informer.metrics.errors).to.equal(1);
    expect(errors).to.eql([]);
  });

  it("reports a busy server once it has asked to wait for ten seconds in all", async () => {
    await using stack = new AsyncDisposableStack();
    const { server, errors } = await busyFor(["1", "9"], stack);
    await until(() => errors.length > 0, { what: "the report" });
    expect(server.asked.length, "attempts").to.equal(2);
    expect(errors).to.eql([
      `informer of notes cannot read http://127.0.0.1:${server.port}/${COLLECTION}: the server answers 429 TooManyRequests`,
    ]);
  });

  it("calls onError instead, with the same text and the cause", async () => {
    using warnings = new Warnings();
    await using server = await Notes.start();
    const errors: Error[] = [];
    const url = `http://127.0.0.1:${server.port}/services/notes`;
    const onError = (error: Error): void => void errors.push(error);
    await using plain = new Plain({ url, credentials: bearer("wrong") }, { onError });
    await until(() => plain.informer.metrics.errors >= 4, { what: "attempts" });
    expect(errors.map(({ message }) => message)).to.have.length(1);
    expect(errors[0]?.message).to.contain("the server rejects the credentials (401 Unauthorized)");
    expect(errors[0]?.cause).to.have.property("code", 401);
    expect(warnings.texts).to.eql([]);
  });

  it("leaves failures to a lifecycle handler, and reports an exception of onError", async () => {
    using warnings = new Warnings();
    await using server = await Notes.start();
    const upstream = { url: `http://127.0.0.1:${server.port}/services/notes`, credentials: bearer("wrong") };
    await using handled = new Plain(upstream);
    const seen: string[] = [];
    handled.informer.on({ lifecycle: ({ type }) => seen.push(type) });
    await until(() => seen.length >= 3, { what: "attempts" });
    expect(warnings.texts).to.eql([]);
    const problems: string[] = [];
    const onError = (): void => {
      throw new Error("from onError");
    };
    const onProblem = ({ message }: Error, { during }: { during: string }): void =>
      void problems.push(`${during} ${message}`);
    await using _throwing = new Plain(upstream, { onError, onProblem });
    await until(() => problems.length > 0, { what: "the exception" });
    expect(problems).to.eql(["onError from onError"]);
  });

  it("does not warn of a watch that a restarted server has ended", async () => {
    using warnings = new Warnings();
    const server = await Notes.start();
    const url = `http://127.0.0.1:${server.port}/services/notes`;
    await using plain = new Plain({ url, credentials: bearer("alice") });
    await plain.informer.synced;
    await using _next = await server.server.close().then(() => Notes.start({ port: server.port, notes: server.notes }));
    await until(() => plain.informer.connected, { what: "the next watch" });
    expect(warnings.texts.filter((text) => !/connection refused|again$/.test(text))).to.eql([]);
  });

  it("reports to the onError of the controllers that use it, once for each, without a warning", async () => {
    using warnings = new Warnings();
    await using server = await Notes.start({ authentication: [staticTokens({ other: { name: "bob" } })] });
    await using plain = new Plain({
      url: `http://127.0.0.1:${server.port}/services/notes`,
      credentials: bearer("alice"),
    });
    const { informer } = plain;
    const failures: string[] = [];
    const sources = [{ informer }, { informer, key: () => [] }] as never;
    await using _controller = controller({
      name: "counter",
      sources,
      reconcile: () => undefined,
      onError: ({ controller: name, error, key }) => void failures.push(`${name} ${key} ${(error as Error).message}`),
    });
    await until(() => informer.metrics.errors >= 4, { what: "attempts" });
    expect(failures).to.eql([
      `counter undefined informer of notes cannot read http://127.0.0.1:${server.port}/${COLLECTION}: the server rejects the credentials (401 Unauthorized): check the token or client certificate`,
    ]);
    expect(warnings.texts).to.eql([]);
  });
});
