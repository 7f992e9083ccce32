import { fail, skip } from "../../conformance/outcome.ts";
import { mediaType } from "../../http/answer.ts";
import type { WatchStream } from "../../http/watch-stream.ts";
import type { ProviderCheck } from "../check.ts";
import { Heard } from "../heard.ts";
import type { ProviderProbe } from "../probe.ts";

/** P6: what changes. */
export const watchChecks: readonly ProviderCheck[] = [
  {
    id: "P6.1",
    title: "a watch is a line of JSON for each event, and begins with one at once",
    protects: "what changes between the list and the watch is not heard of",
    run: async (probe) => {
      const stream = await opened(probe);
      using heard = new Heard(stream, probe.bodies);
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
      using heard = new Heard(await opened(probe), probe.bodies);
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
