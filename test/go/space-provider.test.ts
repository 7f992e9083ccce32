// Space provider in Go, with only the standard library: it passes the conformance suite, and a manager uses its spaces.
import { namespaceOf, restProvider } from "@virtual-workspaces/spaces";
import { checkSpaceProvider } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { isReady, Management } from "../plugins/spaces/support/management.ts";
import { building, goProgram } from "./support/build.ts";
import { Program } from "./support/program.ts";

const TOKEN = "managers-token";
const HERE = namespaceOf("go");

describe("a space provider in Go", function () {
  this.timeout(60_000);
  let program: Program;
  let url: string;

  before(async function () {
    await building("space-provider").call(this);
    program = new Program(goProgram("space-provider", "space-provider"), [], { SPACE_PROVIDER_TOKEN: TOKEN });
    url = await program.until("URL", () => program.lines[0]);
  });
  after(() => program?.[Symbol.asyncDispose]());

  it("passes the conformance suite", async () => {
    const { results, left, serverVersion } = await checkSpaceProvider({ url, token: TOKEN, write: true });
    const others = results.filter(({ outcome }) => outcome !== "passed").map(({ id, reason }) => `${id}: ${reason}`);
    expect(others).to.deep.equal(["P1.2: it serves no document"]);
    expect({ left, serverVersion }).to.deep.equal({ left: [], serverVersion: "go" });
  });

  it("lets a manager create, reach and delete spaces", async () => {
    await using management = await Management.start();
    await using manager = management.manager({ types: { rest: restProvider() } });
    await manager.started;
    await management.provide("go", { type: "rest", secret: { url, token: TOKEN } });
    await management.untilProvider("go", (one) => one?.status?.Phase === "Ready");
    await management.make(HERE, "one");
    const one = await management.until(HERE, "one", isReady);
    const { upstream } = await management.reached(one as never, "inClusterSecretRef");
    expect(upstream.url).to.equal("https://incluster.example.com/one");
    await management.removeSpace(HERE, "one");
  });

  it("completes requests before it exits, and ends watches properly", async () => {
    const answer = await fetch(`${url}/v1/spaces?watch=1`, { headers: { authorization: `Bearer ${TOKEN}` } });
    program.endInput();
    expect(await answer.text()).to.match(/^\{"type":"BOOKMARK"\}\n/);
    expect(await program.ended).to.deep.equal({ code: 0, signal: null });
    expect(program.stderr).to.equal("");
  });
});
