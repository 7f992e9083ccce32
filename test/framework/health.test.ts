// Readiness: results of probes, requests meanwhile, and setups.
import {
  allow,
  createServer,
  defineVirtualWorkspace,
  type ServerOptions,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { testLog } from "../_setup/log.ts";
import { startPlain } from "../_support/plain.ts";
import { until } from "../_support/until.ts";
import { Wire } from "../_support/wire.ts";

type Hooks = Pick<VirtualWorkspace, "ready" | "setup">;

function view(name: string, hooks: Hooks = {}): VirtualWorkspace {
  return defineVirtualWorkspace({
    name,
    path: "/",
    authorize: () => allow(),
    handle: (_req, res) => void res.writeHead(200, { "Content-Type": "text/plain" }).end(`${name} serves`),
    ...hooks,
  });
}

/** A `ready` hook whose result the test decides. */
function verdict() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const state = { fails: "", settle: resolve, asked: 0 };
  const ready = async (): Promise<void> => {
    state.asked += 1;
    await promise;
    if (state.fails !== "") throw new Error(state.fails);
  };
  return { state, ready };
}

function start(...views: readonly VirtualWorkspace[]) {
  return startWith({}, views);
}

async function startWith(options: Partial<ServerOptions>, views: readonly VirtualWorkspace[]) {
  const server = await startPlain(views, options);
  const port = Number(new URL(server.url).port);
  return {
    get: server.get,
    /** Without credentials. */
    async probe(target: string, method = "GET") {
      using wire = await Wire.open(port);
      wire.request(`${method} ${target} HTTP/1.1`, "Host: x");
      const answer = await wire.answer(method);
      return `${answer?.status} ${answer?.body}`;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe("probes", () => {
  it("are open to unauthenticated callers, and answer just ok", async () => {
    await using server = await start(view("a"), view("b"));
    for (const path of ["/livez", "/readyz", "/readyz/a", "/readyz/b", "/readyz?x=y"])
      expect(await server.probe(path), path).to.equal("200 ok");
    expect(await server.probe("/livez", "HEAD")).to.equal("200 ");
  });

  it("list each check on request", async () => {
    await using server = await start(view("a"), view("b"));
    const all = "200 [+]shutdown ok\n[+]a ok\n[+]b ok\nreadyz check passed\n";
    expect(await server.probe("/readyz?verbose")).to.equal(all);
    expect(await server.probe("/readyz?verbose=")).to.equal(all);
    expect(await server.probe("/readyz/b?verbose")).to.equal("200 [+]shutdown ok\n[+]b ok\nreadyz/b check passed\n");
    expect(await server.probe("/livez?verbose")).to.equal("200 [+]ping ok\nlivez check passed\n");
  });

  it("exist only for existing views", async () => {
    await using server = await start(view("a"));
    for (const path of ["/readyz/b", "/readyz/a/b", "/readyz/a/", "/readyz/.%2e/a"])
      expect(await server.probe(path), path).to.match(/^404 \{"kind":"Status".*"reason":"NotFound"/);
  });

  it("are plain text without sniffing and caching", async () => {
    await using server = await start(view("a"));
    const { headers } = await server.get("/readyz?verbose=%3Cscript%3E");
    expect(headers).to.include({
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "cache-control": "no-cache, private",
    });
  });
});

describe("the server's own checks", () => {
  it("run for /readyz, and do not affect requests", async () => {
    const state = { fails: "" };
    const store = (): void => {
      if (state.fails !== "") throw new Error(state.fails);
    };
    await using server = await startWith({ checks: { store } }, [view("a")]);
    expect(await server.probe("/readyz?verbose")).to.equal(
      "200 [+]shutdown ok\n[+]a ok\n[+]store ok\nreadyz check passed\n",
    );
    state.fails = "the secret database is away";
    expect(await server.probe("/readyz/store")).to.equal(
      "503 [+]shutdown ok\n[-]store failed: reason withheld\nreadyz/store check failed\n",
    );
    expect(await server.probe("/readyz/a")).to.equal("200 ok");
    expect((await server.get("/services/a/x")).text).to.equal("a serves");
    state.fails = "";
    expect(await server.probe("/readyz")).to.equal("200 ok");
  });

  it("fail when they time out, with their signal aborted", async () => {
    const aborted = Promise.withResolvers<void>();
    const slow = ({ signal }: { readonly signal: AbortSignal }): Promise<never> => {
      signal.addEventListener("abort", () => aborted.resolve());
      return new Promise(() => undefined);
    };
    await using server = await startWith({ checks: { slow } }, [view("a")]);
    expect(await server.probe("/readyz/slow")).to.match(/^503 .*\n\[-\]slow failed/);
    await aborted.promise;
  });

  it("need names of their own", () => {
    for (const name of ["a", "two words", ""])
      expect(() =>
        createServer({ virtualWorkspaces: [view("a")], authentication: [], checks: { [name]: () => undefined } }),
      ).to.throw(/^invalid check name ".*": use lower-case letters, digits and dashes, and no view's name$/);
  });
});

describe("a view that is not ready", () => {
  it("answers 503 with Retry-After while `ready` is pending, and serves once it has resolved", async () => {
    const { state, ready } = verdict();
    await using server = await start(view("slow", { ready }), view("quick"));
    const { status, headers, body } = await server.get("/services/slow/x");
    expect({ status, retry: headers["retry-after"] }).to.deep.equal({ status: 503, retry: "1" });
    expect(body).to.deep.equal({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "virtual workspace slow is not ready: it is starting; try again",
      reason: "ServiceUnavailable",
      details: { retryAfterSeconds: 1 },
      code: 503,
    });
    // A probe does not hang with the hook.
    expect(await server.probe("/readyz")).to.equal(
      "503 [+]shutdown ok\n[-]slow failed: reason withheld\n[+]quick ok\nreadyz check failed\n",
    );
    expect(await server.probe("/readyz/quick")).to.equal("200 ok");
    expect((await server.get("/services/quick/x")).text).to.equal("quick serves");
    expect(state.asked).to.equal(1); // however many probes there are meanwhile
    state.settle();
    expect(await server.probe("/readyz")).to.equal("200 ok");
    expect((await server.get("/services/slow/x")).text).to.equal("slow serves");
  });

  it("answers 503 whenever `ready` throws, and recovers when it no longer does", async () => {
    const { state, ready } = verdict();
    state.settle();
    await using server = await start(view("moody", { ready }));
    expect(await server.probe("/readyz/moody")).to.equal("200 ok");
    for (let turn = 0; turn < 2; turn++) {
      state.fails = "the secret database is away";
      expect(await server.probe("/readyz/moody")).to.equal(
        "503 [+]shutdown ok\n[-]moody failed: reason withheld\nreadyz/moody check failed\n",
      );
      const { status, text } = await server.get("/services/moody/x");
      expect(status).to.equal(503);
      expect(text).to.include("its ready hook failed").and.not.to.include("database");
      expectFault(/virtual workspace is not ready .*the secret database is away/);
      state.fails = "";
      expect(await server.probe("/readyz/moody")).to.equal("200 ok");
      expect((await server.get("/services/moody/x")).status).to.equal(200);
    }
  });

  it("fails its probe when `ready` hangs, though it was ready before", async () => {
    let pending: Promise<void> | undefined;
    const never = Promise.withResolvers<void>();
    await using server = await start(view("stuck", { ready: () => pending }));
    expect(await server.probe("/readyz/stuck")).to.equal("200 ok");
    pending = never.promise;
    expect(await server.probe("/readyz/stuck")).to.match(/^503 .*\n\[-\]stuck failed/);
    never.resolve();
    expect(await server.probe("/readyz/stuck")).to.equal("200 ok");
  });

  it("is noticed without probes, and the same failure is logged once", async () => {
    const { state, ready } = verdict();
    state.settle();
    await using server = await start(view("moody", { ready }));
    const untilAnswers = async (status: number): Promise<void> => {
      await until(async () => (await server.get("/services/moody/x")).status === status);
    };
    await untilAnswers(200);
    state.fails = "away";
    await untilAnswers(503);
    expectFault(/not ready .*away/);
    const { asked } = state;
    while (state.asked < asked + 2) await server.probe("/readyz"); // fails twice more
    state.fails = "";
    await untilAnswers(200);
  });

  it("shows that only to authenticated callers: others get 401", async () => {
    const { ready } = verdict();
    await using server = await start(view("slow", { ready }));
    expect(await server.probe("/services/slow/x")).to.match(/^401 /);
  });
});

describe("setup", () => {
  it("runs before the server listens, and its result is disposed when the server closes", async () => {
    const steps: string[] = [];
    const disposable = (name: string): Disposable => ({ [Symbol.dispose]: () => void steps.push(`${name} disposed`) });
    const later = (name: string): AsyncDisposable => ({
      [Symbol.asyncDispose]: async () => void steps.push(`${name} disposed`),
    });
    const server = await start(
      view("a", {
        setup: async ({ signal, log }) => {
          expect(signal.aborted).to.equal(false);
          signal.addEventListener("abort", () => steps.push("a aborted"));
          log({ level: "info", message: "set up" });
          steps.push("a set up");
          return later("a");
        },
      }),
      view("b", { setup: () => disposable("b") }),
      view("c", { setup: () => undefined }),
    );
    expect((await server.get("/services/a/x")).status).to.equal(200);
    expect(steps).to.deep.equal(["a set up"]);
    await server[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    expect(steps).to.have.members(["a set up", "a aborted", "a disposed", "b disposed"]).and.to.have.length(4);
  });

  it("prevents listening when it fails, and undoes the others, also one under way", async () => {
    const steps: string[] = [];
    const slow = Promise.withResolvers<void>();
    const views = [
      view("good", { setup: () => ({ [Symbol.dispose]: () => void steps.push("good disposed") }) }),
      view("slow", {
        setup: async ({ signal }) => {
          signal.addEventListener("abort", () => slow.resolve());
          await slow.promise;
          return { [Symbol.dispose]: () => void steps.push("slow disposed") };
        },
      }),
      view("bad", { setup: () => Promise.reject(new Error("no database")) }),
    ];
    const server = createServer({ virtualWorkspaces: views, authentication: [], log: testLog().log });
    let error: unknown;
    await server.listen({ port: 0 }).catch((caught: unknown) => (error = caught));
    expect(error).to.be.an("error").with.property("message", "no database");
    expect(steps).to.have.members(["good disposed", "slow disposed"]).and.to.have.length(2);
    await server.close();
    expect(steps).to.have.length(2);
  });
});
