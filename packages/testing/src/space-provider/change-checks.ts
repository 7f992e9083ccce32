import { expectCode, fail, skip } from "../assertions/expect.ts";
import { show } from "../assertions/json.ts";
import { mediaType } from "../http/answer.ts";
import type { WatchStream } from "../http/watch-stream.ts";
import type { ProviderCheck, ProviderProbe } from "./provider-probe.ts";
import { SpaceWatch } from "./space-watch.ts";

const TOO_LONG = 70 * 1024;

/** P6: what changes. */
export const watchChecks: readonly ProviderCheck[] = [
  {
    id: "P6.1",
    title: "a watch is a line of JSON for each event, and begins with one at once",
    protects: "what changes between the list and the watch is not heard of",
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
    title: "a watch says something every 30 s, whatever happens",
    protects: "nobody notices that it is dead, or it is begun anew again and again",
    run: async (probe) => {
      using heard = new SpaceWatch(await opened(probe), probe.bodies);
      const { heartbeat } = probe.deadlines;
      for (const which of ["first", "second"])
        if (!(await heard.next(heartbeat))) fail(heard.request, `a ${which} line within ${heartbeat} ms`, "nothing");
    },
  },
  {
    id: "P6.3",
    title: "what is to be watched is 1 or 0",
    protects: "a watch is taken for a list, which is read for ever",
    run: async (probe) => {
      probe.bodies.refusal(await probe.watchHead({ query: { watch: "conformance" } }), [400, 501]);
    },
  },
];

async function opened(probe: ProviderProbe): Promise<WatchStream> {
  if (!(await probe.can("watch"))) skip("the provider does not say what changes");
  return probe.watch();
}

/** P7: a space from its making to its end. */
export const writeChecks: readonly ProviderCheck[] = [
  {
    id: "P7.1",
    title: "a space is made, becomes ready, and is listed",
    protects: "nobody gets a space",
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
    title: "made again it stays the one that it is",
    protects: "a manager that was killed makes two, or has what was in it deleted",
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
    title: "a watch says that it has come",
    protects: "a space is ready, and nobody hears of it",
    writes: true,
    run: async (probe) => {
      const { name, heard } = await probe.made();
      if (heard === undefined) return skip("the provider does not say what changes");
      if (!(await heard.change(name, 0, probe.deadlines.prompt)))
        fail(heard.request, `CHANGED, of ${name} or of any`, "nothing of the kind");
    },
  },
  {
    id: "P7.4",
    title: "a wish that is not understood is refused",
    protects: "a space is made that is not the one that was wished for",
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
    title: "a space is deleted, and then is neither listed nor there by its name",
    protects: "what is deleted stays, and costs",
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
    title: "deleted again it is gone all the same",
    protects: "a manager that was killed never comes to the end of a deletion",
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
    title: "a watch says that it has gone",
    protects: "a space is deleted, and nobody hears of it",
    writes: true,
    run: async (probe) => {
      const { made, since } = await probe.gone();
      const { name, heard } = made;
      if (heard === undefined) return skip("the provider does not say what changes");
      if (!(await heard.change(name, since, probe.deadlines.prompt)))
        fail(heard.request, `CHANGED, of ${name} or of any`, "nothing of the kind");
    },
  },
];
