import assert from "node:assert/strict";
import { Agent, get } from "node:http";
import { type Profiler, Session } from "node:inspector/promises";
import {
  allow,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  staticTokens,
} from "@virtual-workspaces/framework";

/** Largest number of source files on the path of a GET of one object: a reader who follows it has to read them all. */
const MOST_FILES = 25;

const Quote = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Quote",
  scope: "Cluster",
  schema: { type: "object", properties: { text: { type: "string" } } },
});

describe("the path of a GET", () => {
  it("passes few files between the socket and the bytes of an object", async () => {
    const quotes = Quote.collection();
    quotes.in("").set("first", { text: "less is more" });
    const quote = defineVirtualWorkspace({
      name: "quotes",
      path: "/",
      authorize: () => allow(),
      resources: [Quote.serve(quotes)],
    });
    await using server = createServer({
      virtualWorkspaces: [quote],
      authentication: [staticTokens({ alice: { name: "alice" } })],
    });
    const { url } = await server.listen({ port: 0 });
    const target = `${url}/services/quotes/apis/example.dev/v1/quotes/first`;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const warmedUp = 20;
    for (let at = 0; at < warmedUp; at++) await read(target, agent);
    // Unrelated work of this process does not run in every round.
    const rounds: (readonly string[])[] = [];
    for (let at = 0; at < 15; at++) rounds.push(await filesCalled(() => read(target, agent)));
    const files = (rounds[0] ?? []).filter((file) => rounds.every((round) => round.includes(file)));
    agent.destroy();
    if (process.env["SHOW"]) console.log(files);
    assert.ok(
      files.length <= MOST_FILES,
      `a GET passes ${files.length} files, ${MOST_FILES} at most: fold what belongs together\n${files.join("\n")}`,
    );
    assert.ok(
      files.some((file) => file.endsWith("/pipeline.ts")),
      "the files of the server are counted",
    );
  });
});

/** Gets an object, and reads the whole response. */
function read(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { authorization: "Bearer alice" } }, (response) => {
      assert.equal(response.statusCode, 200);
      response.resume().on("end", resolve);
    }).on("error", reject);
  });
}

/** Returns the files below packages/ whose functions are called meanwhile. */
async function filesCalled(act: () => Promise<void>): Promise<readonly string[]> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    await session.post("Profiler.takePreciseCoverage"); // resets the counts
    await act();
    const { result } = await session.post("Profiler.takePreciseCoverage");
    return result
      .filter(isOurs)
      .map(({ url }) => url.replace(/^.*\/packages\//, ""))
      .sort();
  } finally {
    await session.post("Profiler.stopPreciseCoverage");
    session.disconnect();
  }
}

function isOurs({ url, functions }: Profiler.ScriptCoverage): boolean {
  return /\/packages\/.*\/src\//.test(url) && functions.some(({ ranges }) => ranges.some(({ count }) => count > 0));
}
