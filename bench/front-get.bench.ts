// GETs of 2 KiB and of 900 KiB in a workspace through a front proxy and its shard, against a bare relay by undici's dispatch before the same shard
import assert from "node:assert/strict";
import { checked } from "./_harness/checked.ts";
import { type Answer, fetchOnce, getRequest, load } from "./_harness/http.ts";
import { Remote } from "./_harness/remote.ts";
import { type Figure, figure, report } from "./_harness/report.ts";
import { interleave } from "./_harness/rounds.ts";
import type { FrontProxied } from "./_servers/front-proxied.ts";
import type { Relay } from "./_servers/relay.ts";
import type { Shard } from "./_servers/shard.ts";

const KIB = 1024;
const short = process.argv.includes("--short");
const ROUNDS = short ? 10 : 20;
/** As long as it takes to compile what is run, ms. */
const WARM = short ? 500 : 4000;
const headers = { Authorization: "Bearer bench-token", Accept: "application/json" };
const names = ["ours", "bare"] as const;
const rival = "node:http, undici dispatch";

report("front-get", [
  ...(await figuresOf(2 * KIB, "2 KiB", { connections: 16, atMost: 1.4 })),
  ...(await figuresOf(900 * KIB, "900 KiB", { connections: 4, atMost: 1 })),
]);

async function figuresOf(
  size: number,
  what: string,
  { connections, atMost }: { readonly connections: number; readonly atMost: number },
): Promise<Figure[]> {
  await using shard = await Remote.start<Shard>("shard");
  await using ours = await Remote.start<FrontProxied>("front-proxied");
  await using bare = await Remote.start<Relay>("relay");

  const { port: behind, path } = await shard.ask("listen", size);
  const target = `/clusters/root:a${path}`;
  const request = getRequest(target, headers);
  const { body } = await fetchOnce(behind, request);
  const port = { ours: await ours.ask("listen", behind), bare: await bare.ask("listen", behind) };
  const servers = { ours, bare };
  const answer = {
    ours: await checked("ours", { port: port.ours, request, body }),
    bare: await checked("bare", { port: port.bare, request, body }),
  } satisfies Record<string, Answer>;
  const nowhere = await fetchOnce(port.ours, getRequest(target.replace("root:a", "root:b"), headers));
  assert.equal(nowhere.status, 403, "a path that leads nowhere");

  const measure = async (name: keyof typeof port, milliseconds: number): Promise<{ cpu: number; rate: number }> => {
    const before = await servers[name].ask("cpu");
    const terms = { port: port[name], request, expected: answer[name], connections };
    const { answers, seconds } = await load({ ...terms, milliseconds });
    return { cpu: ((await servers[name].ask("cpu")) - before) / answers, rate: answers / seconds };
  };
  await interleave(names, 1, (name) => measure(name as keyof typeof port, WARM));
  const rounds = await interleave(names, ROUNDS, (name) => measure(name as keyof typeof port, 300));

  return [
    figure({
      what: `CPU per request of ${what}`,
      value: rounds.ratio(["ours", "bare"], "cpu"),
      unit: "ratio",
      rival,
      atMost,
    }),
    ...names.map((name) => figure({ what: `the same, ${name}`, value: rounds.of(name, "cpu"), unit: "µs" })),
    figure({
      what: `requests of ${what} per second`,
      value: rounds.ratio(["ours", "bare"], "rate"),
      unit: "ratio",
      rival,
    }),
  ];
}
