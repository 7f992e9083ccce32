import { excerpt, fail, skip } from "../assertions/expect.ts";
import type { JsonObject } from "../assertions/json.ts";
import type { ConformanceResource } from "../assertions/report.ts";
import type { Answer } from "../http/answer.ts";
import type { CallOptions, HttpClient } from "../http/client.ts";
import { WatchStream } from "../http/watch-stream.ts";
import type { ConformanceDeadlines } from "./options.ts";
import type { Discovery } from "./read-discovery.ts";
import type { Users } from "./users.ts";

/** OpenAPI document with the answer that contained it. */
export interface OpenApiDocument {
  readonly answer: Answer;
  readonly document: JsonObject;
}

/** Properties of the server and of the run. */
export interface ServerProbeOptions {
  readonly client: HttpClient;
  /** Discovery, as far as it is readable. */
  readonly discovery: Discovery;
  /** All resources of discovery that the filter selects. */
  readonly resources: readonly ConformanceResource[];
  readonly deadlines: ConformanceDeadlines;
  /** OpenAPI documents requested so far, by group and version. */
  readonly documents: Map<string, Promise<OpenApiDocument>>;
  /** Whether the run has credentials, so that requests without them are a meaningful test. */
  readonly identified: boolean;
  /** Users of the run: its own and the others. */
  readonly users: Users;
}

/** Sends the requests of checks to a server. */
export class ServerProbe {
  readonly client: HttpClient;
  readonly discovery: Discovery;
  readonly resources: readonly ConformanceResource[];
  readonly deadlines: ConformanceDeadlines;
  readonly documents: Map<string, Promise<OpenApiDocument>>;
  readonly identified: boolean;
  readonly users: Users;

  constructor(options: ServerProbeOptions) {
    this.client = options.client;
    this.discovery = options.discovery;
    this.resources = options.resources;
    this.deadlines = options.deadlines;
    this.documents = options.documents;
    this.identified = options.identified;
    this.users = options.users;
  }

  get(path: string, options?: CallOptions): Promise<Answer> {
    return this.client.call(path, options);
  }

  /** Opens a watch. Skips the check when the user may not watch. @throws CheckFailure for any other answer */
  async watch(path: string, options: CallOptions): Promise<WatchStream> {
    const opened = await this.client.watch(path, options);
    if (opened instanceof WatchStream) return opened;
    if (opened.status === 403) skip(`the user of this run may not watch ${opened.request.url}`);
    return fail(opened.request, "200 and a stream of events", excerpt(opened));
  }
}
