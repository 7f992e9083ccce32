import { expectCode, fail, skip } from "../assertions/expect.ts";
import { show } from "../assertions/json.ts";
import { mediaType } from "../http/answer.ts";
import type { WatchStream } from "../http/watch-stream.ts";
import type { ProviderCheck, ProviderProbe } from "./provider-probe.ts";
import { SpaceWatch } from "./space-watch.ts";

const TOO_LONG = 70 * 1024;

/** P6: watches of changes. */
export const watchChecks: readonly ProviderCheck[] = [
  {
    id: "P6.1",
    title: "a watch is one line of JSON for each event, and sends the first immediately",
    protects: "a manager misses changes between the list and the watch",
    run: async (probe) => {
      const stream = await opened(probe);
      using heard = new SpaceWatch(stream, probe.bodies);
      if (mediaType(stream) !== "application/x-ndjson")
        fail(heard.request, "application/x-ndjson", mediaType(stream) || "no content type");
      const { prompt } = probe.deadlines;
      if (!(await heard.next(prompt))) fail(heard.request, `a BOOKMARK within ${prompt} ms`, "nothing");
    },
  },
  {
    id: "P6.2",
    title: "a watch sends a line every 30 s, even without changes",
    protects: "a manager does not notice a dead watch, or restarts healthy ones",
    run: async (probe) => {
      using heard = new SpaceWatch(await opened(probe), probe.bodies);
      const { heartbeat } = probe.deadlines;
      for (const which of ["first", "second"])
        if (!(await heard.next(heartbeat))) fail(heard.request, `a ${which} line within ${heartbeat} ms`, "nothing");
    },
  },
  {
    id: "P6.3",
    title: "the parameter watch accepts only 1 and 0",
    protects: "a manager mistakes a watch for a list, and reads it forever",
    run: async (probe) => {
      probe.bodies.refusal(await probe.watchHead({ query: { watch: "conformance" } }), [400, 501]);
    },
  },
];

async function opened(probe: ProviderProbe): Promise<WatchStream> {
  if (!(await probe.can("watch"))) skip("the provider does not support watches");
  return probe.watch();
}

/** P7: a space from its creation to its deletion. */
export const writeChecks: readonly ProviderCheck[] = [
  {
    id: "P7.1",
    title: "a created space becomes ready, and the list contains it",
    protects: "users get no space",
    writes: true,
    run: async (probe) => {
      const { name } = await probe.make();
      const { answer, spaces } = await probe.list();
      const listed = spaces.find((one) => one.name === name);
      if (listed?.phase !== "Ready") fail(answer.request, `${show(name)}, Ready`, show(listed));
    },
  },
  {
    id: "P7.2",
    title: "a second create of a space keeps the first",
    protects: "a manager that was killed creates two spaces, or loses the contents of the first",
    writes: true,
    run: async (probe) => {
      const { name, space } = await probe.made();
      expectCode(await probe.put(name, "{}"), [202]);
      const again = await probe.space(name);
      const { id } = probe.bodies.ok("Space", again);
      if (id !== space.id) fail(again.request, show({ id: space.id }), show({ id }));
    },
  },
  {
    id: "P7.3",
    title: "a watch reports that the space is ready",
    protects: "a manager does not notice that a space is ready",
    writes: true,
    run: async (probe) => {
      const { name, heard } = await probe.made();
      if (heard === undefined) return skip("the provider does not support watches");
      if (!(await heard.change(name, 0, probe.deadlines.prompt)))
        fail(heard.request, `CHANGED for ${name} or for all spaces`, "no such line");
    },
  },
  {
    id: "P7.4",
    title: "invalid parameters of a space are rejected",
    protects: "a space is created with other parameters than the user requested",
    writes: true,
    run: async (probe) => {
      const { name } = await probe.made();
      probe.bodies.refusal(await probe.put(name, '{"conformance":true}'), [400]);
      probe.bodies.refusal(await probe.put(name, "{"), [400]);
      probe.bodies.refusal(await probe.put(name, "{}", "text/plain"), [415]);
      probe.bodies.refusal(await probe.put(name, `{"a":"${"a".repeat(TOO_LONG)}"}`), [413]);
    },
  },
  {
    id: "P7.5",
    title: "a deleted space is neither listed nor found by its name",
    protects: "deleted spaces remain, and cost money",
    writes: true,
    run: async (probe) => {
      const made = await probe.made();
      await made.delete();
      probe.bodies.absent(await probe.space(made.name), made.name);
      const { answer, spaces } = await probe.list();
      if (spaces.some(({ name }) => name === made.name)) fail(answer.request, `no ${show(made.name)}`, "it is listed");
    },
  },
  {
    id: "P7.6",
    title: "a second delete succeeds too",
    protects: "a manager that was killed never completes a deletion",
    writes: true,
    run: async (probe) => {
      const { made } = await probe.gone();
      const answer = await probe.space(made.name, { method: "DELETE", repeatable: true });
      if (answer.status === 404) probe.bodies.absent(answer, made.name);
      else expectCode(answer, [202], " or 404 about the space");
    },
  },
  {
    id: "P7.7",
    title: "a watch reports that the space is gone",
    protects: "a manager does not notice that a space was deleted",
    writes: true,
    run: async (probe) => {
      const { made, since } = await probe.gone();
      const { name, heard } = made;
      if (heard === undefined) return skip("the provider does not support watches");
      if (!(await heard.change(name, since, probe.deadlines.prompt)))
        fail(heard.request, `CHANGED for ${name} or for all spaces`, "no such line");
    },
  },
];
