// Why a worker: its isolate has no servers and timers of other tests, whose files would be counted too.
import assert from "node:assert/strict";
import { Agent, get } from "node:http";
import { type Profiler, Session } from "node:inspector/promises";
import { parentPort } from "node:worker_threads";
import {
  allow,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  staticTokens,
} from "@virtual-workspaces/framework";

const WARM_UP = 20;
const ROUNDS = 15;

const Quote = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Quote",
  scope: "Cluster",
  schema: { type: "object", properties: { text: { type: "string" } } },
});

parentPort?.postMessage(await filesOfGet());

/** Returns the files below packages/ that every GET of one object calls. */
async function filesOfGet(): Promise<readonly string[]> {
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
  for (let at = 0; at < WARM_UP; at++) await read(target, agent);
  // Timers of the server do not run in every round.
  const rounds: (readonly string[])[] = [];
  for (let at = 0; at < ROUNDS; at++) rounds.push(await filesCalled(() => read(target, agent)));
  agent.destroy();
  return (rounds[0] ?? []).filter((file) => rounds.every((round) => round.includes(file)));
}

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
