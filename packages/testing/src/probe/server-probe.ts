import { excerpt, fail, skip } from "../assertions/expect.ts";
import type { JsonObject } from "../assertions/json.ts";
import type { ConformanceResource } from "../assertions/report.ts";
import type { Answer } from "../http/answer.ts";
import type { CallOptions, HttpClient } from "../http/client.ts";
import { WatchStream } from "../http/watch-stream.ts";
import type { ConformanceDeadlines } from "./options.ts";
import type { Discovery } from "./read-discovery.ts";
import type { Users } from "./users.ts";

/** An OpenAPI document, and the answer that it came with. */
export interface OpenApiDocument {
  readonly answer: Answer;
  readonly document: JsonObject;
}

/** What a run knows of the server. */
export interface ServerProbeOptions {
  readonly client: HttpClient;
  /** As much of it as can be read. */
  readonly discovery: Discovery;
  /** All that discovery has and the filter lets through. */
  readonly resources: readonly ConformanceResource[];
  readonly deadlines: ConformanceDeadlines;
  /** OpenAPI documents by the group and version they are of, as far as they were asked for. */
  readonly documents: Map<string, Promise<OpenApiDocument>>;
  /** Whether the run has credentials, so that going without them means something. */
  readonly identified: boolean;
  /** The run's own user and the others. */
  readonly users: Users;
}

/** How checks ask a server. */
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

  /** An open watch. A user who may not watch says nothing about the server. @throws CheckFailure on any other answer */
  async watch(path: string, options: CallOptions): Promise<WatchStream> {
    const opened = await this.client.watch(path, options);
    if (opened instanceof WatchStream) return opened;
    if (opened.status === 403) skip(`the user of this run may not watch ${opened.request.url}`);
    return fail(opened.request, "200 and a stream of events", excerpt(opened));
  }
}
