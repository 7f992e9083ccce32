// Failures of a server that authorizes requests.
import { get } from "node:http";
import { subjectAccessReview } from "@virtual-workspaces/forwarding";
import { authenticated, deny } from "@virtual-workspaces/framework";
import { authenticatedUser } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { asked } from "../_support/asked.ts";
import { outcome } from "../_support/plain.ts";
import { until } from "../_support/until.ts";
import { NOTES, startView } from "./access-view.ts";
import { json, misbehaving, nowhere } from "./misbehaving.ts";

function answer(status: unknown) {
  return { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", metadata: {}, status };
}

const UNAVAILABLE = [503, "ServiceUnavailable", "the server that authorizes this request is unavailable: try again"];
const LIES: Readonly<Record<string, unknown>> = {
  "of another kind": { ...answer({ allowed: true }), kind: "SelfSubjectAccessReview" },
  "of another version": { ...answer({ allowed: true }), apiVersion: "authorization.k8s.io/v1beta1" },
  "without a status": answer(undefined),
  "whose status is a list": answer([{ allowed: true }]),
  "with an empty status": answer({}),
  "whose `allowed` is a string": answer({ allowed: "true" }),
  "whose `allowed` is a number": answer({ allowed: 1 }),
  "that is both allowed and denied": answer({ allowed: true, denied: true }),
  "whose `denied` is a string": answer({ allowed: true, denied: "no" }),
  "that is not an object": true,
};

describe("a response to a SubjectAccessReview", () => {
  for (const [what, body] of Object.entries(LIES))
    it(`${what} denies access`, async () => {
      await using liar = await misbehaving((res) => json(res, body));
      await using view = await startView({ upstream: { url: liar.url } });
      const refused = await view.get(NOTES);
      expect([refused.status, refused.text]).to.satisfy(
        ([code, text]: [number, string]) => code === 500 && !text.includes(liar.url),
      );
      expectFault(/request failed/);
      expect(view.errors.map(String).join()).to.contain(liar.url);
      expect(liar.requests).to.equal(1);
    });

  it("is decided by `allowed` despite an evaluation error, which callers do not see", async () => {
    let allowed = true;
    await using kube = await misbehaving((res) => json(res, answer({ allowed, evaluationError: "hush" })));
    await using view = await startView({ upstream: { url: kube.url }, allowCache: 0, showReason: true });
    expect(await view.code()).to.equal(200);
    allowed = false;
    const refused = await view.get(NOTES);
    expect([refused.status, refused.text.includes("hush")]).to.deep.equal([403, false]);
  });

  it("is final in a union if denied, but not if merely not allowed", async () => {
    let denied = true;
    await using kube = await misbehaving((res) => json(res, answer({ allowed: false, denied })));
    await using view = await startView({ upstream: { url: kube.url }, denyCache: 0, behind: authenticated() });
    expect(await view.code()).to.equal(403);
    denied = false;
    expect(await view.code()).to.equal(200);
  });

  it("has a long reason cut", async () => {
    await using kube = await misbehaving((res) => json(res, answer({ allowed: false, reason: "x".repeat(100_000) })));
    await using view = await startView({ upstream: { url: kube.url }, showReason: true });
    expect((await view.get(NOTES)).text.length).to.be.lessThan(2_000);
  });

  it("is invalid above 1 MiB", async () => {
    await using kube = await misbehaving((res) =>
      json(res, answer({ allowed: true, reason: "x".repeat(2 * 1024 * 1024) })),
    );
    await using view = await startView({ upstream: { url: kube.url } });
    expect(await view.code()).to.equal(500);
    expectFault(/longer than 1048576 bytes/);
  });

  for (const [code, hint] of [
    [401, /rejects the credentials/],
    [403, /system:auth-delegator/],
    [404, /does not serve this API/],
    [302, /answered 302/],
  ] as const)
    it(`with code ${code} is a 500, and tells the operator what to do`, async () => {
      await using kube = await misbehaving((res) => {
        res.setHeader("Location", "/elsewhere");
        json(res, answer({ allowed: true }), code);
      });
      await using view = await startView({ upstream: { url: kube.url } });
      expect(await view.code()).to.equal(500);
      expectFault(hint);
      expect(kube.requests).to.equal(1);
    });
});

describe("a server that authorizes requests", () => {
  it("causes 503 within the timeout if it is down or hangs, and is named only to the operator", async () => {
    await using hole = await misbehaving(() => undefined);
    for (const url of [hole.url, await nowhere()]) {
      await using view = await startView({ upstream: { url }, timeout: 200 });
      const refused = await view.get(NOTES);
      expect(outcome(refused)).to.deep.equal(UNAVAILABLE);
      expect(refused.headers["retry-after"]).to.equal("1");
      expect(view.errors.map(String).join()).to.contain(url);
      expect(view.access.stats).to.deep.include({ asked: 1, failed: 1, kept: 0, inFlight: 0 });
    }
  });

  it("causes a process warning by default if it fails", async () => {
    await using access = subjectAccessReview({ upstream: { url: await nowhere() }, timeout: 100 });
    const about = asked(authenticatedUser({ name: "alice" }), { verb: "get" });
    const error = await Promise.resolve(access(about)).catch((reason: unknown) => reason);
    expect(String(error)).to.contain("try again");
    await new Promise(setImmediate);
    expectFault(/subject access review failed: ReviewFailure: POST http/);
  });

  it("causes one process warning until the reason changes or a review succeeds", async () => {
    let code = 403;
    await using kube = await misbehaving((res) => json(res, answer({ allowed: true }), code));
    const warnings: string[] = [];
    const note = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", note);
    await using access = subjectAccessReview<object>({ upstream: { url: kube.url }, allowCache: 0 });
    const review = async (cluster: string): Promise<void> => {
      const about = { ...asked(authenticatedUser({ name: "alice" }), { verb: "get" }), params: { cluster } };
      await Promise.resolve(access(about)).catch(() => undefined);
      await new Promise(setImmediate);
    };
    for (const next of [403, 403, 401, 401, 200, 401]) {
      code = next;
      await review("root");
    }
    await review("other");
    process.off("warning", note);
    expectFault(/subject access review failed/);
    expect(
      warnings.map((text) => /clusters\/(\w+)\S+ the server answered (\d+)/.exec(text)?.slice(1).join(" ")),
    ).to.deep.equal(["root 403", "root 401", "root 401", "other 401"]);
  });

  it("causes one process warning if it is down, in whatever ways and logical clusters", async () => {
    const warnings: string[] = [];
    const note = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", note);
    let refuses = true;
    await using kube = await misbehaving((res) => void (refuses ? res.destroy() : json(res, {}, 503)));
    await using access = subjectAccessReview<object>({ upstream: { url: kube.url }, timeout: 100 });
    for (const cluster of ["a", "b", "a"]) {
      const about = { ...asked(authenticatedUser({ name: "alice" }), { verb: "get" }), params: { cluster } };
      await Promise.resolve(access(about)).catch(() => undefined);
      refuses = !refuses;
    }
    await new Promise(setImmediate);
    process.off("warning", note);
    expectFault(/subject access review failed/);
    expect(warnings).to.have.length(1);
  });

  it("gets a retry after a temporary failure", async () => {
    await using flaky = await misbehaving((res, count) => {
      if (count < 4) res.writeHead(500).end();
      else json(res, answer({ allowed: true }));
    });
    await using view = await startView({ upstream: { url: flaky.url } });
    expect(await view.code()).to.equal(200);
    expect(view.access.stats).to.deep.include({ asked: 1, retried: 3, failed: 0 });
  });

  it("is not retried if Retry-After exceeds the timeout", async () => {
    await using busy = await misbehaving((res) => res.writeHead(503, { "Retry-After": "3600" }).end());
    await using view = await startView({ upstream: { url: busy.url } });
    expect(await view.code()).to.equal(503);
    expect(busy.requests).to.equal(1);
  });

  it("does not affect cached verdicts while it is down, and gets reviews again when it is back", async () => {
    let away = false;
    await using flaky = await misbehaving((res) => (away ? res.destroy() : json(res, answer({ allowed: true }))));
    await using view = await startView({ upstream: { url: flaky.url }, timeout: 3_000, allowCache: 60_000 });
    expect(await view.code()).to.equal(200);
    away = true;
    expect(await view.code()).to.equal(200);
    expect(await view.code(NOTES)).to.equal(503);
    away = false;
    expect(await view.code(NOTES)).to.equal(200);
  });

  it("denies no requests in a union that another authorizer allows, even if it fails", async () => {
    await using view = await startView({ upstream: { url: await nowhere() }, timeout: 100, behind: authenticated() });
    expect(await view.code()).to.equal(200);
    expect(view.errors).to.have.length(1);
    await using other = await startView({
      upstream: { url: await nowhere() },
      timeout: 100,
      behind: () => deny("not by me"),
    });
    expect(await other.code()).to.equal(503);
  });

  it("has its connection closed when the last waiting caller leaves", async () => {
    await using hole = await misbehaving(() => undefined);
    await using view = await startView({ upstream: { url: hole.url } });
    const headers = { authorization: "Bearer alice" };
    const callers = [1, 2].map(() =>
      get(view.server.url + NOTES, { headers, agent: false }).on("error", () => undefined),
    );
    await until(() => hole.requests === 1 && view.access.stats.shared === 1);
    callers[0]?.destroy();
    const third = get(view.server.url + NOTES, { headers, agent: false }).on("error", () => undefined);
    await until(() => view.access.stats.shared === 2);
    callers[1]?.destroy();
    expect(view.access.stats.inFlight).to.equal(1);
    third.destroy();
    await until(() => view.access.stats.inFlight === 0);
    while ((await hole.open) > 0);
    expect(view.errors).to.deep.equal([]);
    expect(view.access.stats).to.deep.include({ asked: 1, failed: 0 });
  });

  it("causes incomplete, empty rules reviews", async () => {
    await using kube = await misbehaving((res) => json(res, answer({ allowed: true })));
    await using view = await startView({ upstream: { url: kube.url } });
    const path = "/services/notes/clusters/root/apis/authorization.k8s.io/v1/selfsubjectrulesreviews";
    const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace: "x" } };
    const { status } = (await view.server.send(`POST ${path}`, body)).body;
    expect(status).to.deep.include({ incomplete: true, nonResourceRules: [] });
    expect(kube.requests).to.equal(0);
  });

  it("requires valid options", () => {
    const upstream = { url: "http://127.0.0.1:1" };
    for (const wrong of [
      { allowCache: -1 },
      { denyCache: 0.5 },
      { maximum: 0 },
      { timeout: Number.NaN },
      { inFlight: 0 },
    ])
      expect(() => subjectAccessReview({ upstream, ...wrong })).to.throw("use a whole number from");
    expect(() => subjectAccessReview({ upstream, watchesEvery: 0 })).to.throw("invalid watchesEvery");
  });
});
