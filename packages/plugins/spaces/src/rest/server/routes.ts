import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError, quote } from "@virtual-workspaces/apimachinery";
import type { RawRequest } from "@virtual-workspaces/framework";
import type { Awaitable } from "@virtual-workspaces/framework/storage";
import type { PhysicalSpace, ProviderCall, SpaceProvider } from "../../provider/provider.ts";
import { ProviderCalls } from "../../provider/provider-calls.ts";
import type { Bodies } from "../protocol/bodies.ts";
import { isSpaceName, NAME_PROBLEM } from "../protocol/bodies.ts";
import { spaceProviderOpenAPI } from "../protocol/document.ts";
import { LIMITS, MEDIA } from "../protocol/protocol.ts";
import { answerTo, begun, pageOf, send } from "./answers.ts";
import { Parameters, readSpaceRequest, type Subject, subjectOf } from "./requests.ts";
import { answerWatch, ChangeQueue } from "./watch-answer.ts";

/** `SpaceProviderViewOptions` with defaults applied. */
interface RoutesOptions {
  readonly provider: SpaceProvider;
  readonly version: string;
  readonly hierarchy: boolean;
  readonly ready: () => Awaitable<void>;
  /** ms */
  readonly callTimeout: number;
  /** ms */
  readonly heartbeat: number;
  readonly onError: (error: unknown) => void;
}

/** Parsed request. */
interface RouteRequest {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly request: RawRequest<unknown>;
  readonly parameters: Parameters;
  readonly call: ProviderCall;
}

/** Handlers by HTTP method. */
type Methods = Readonly<Record<string, (question: RouteRequest) => void | Promise<void>>>;
const SPACES = { group: "", resource: "spaces" };

/** Handlers of the protocol's operations. */
export class SpaceRoutes {
  readonly #options: RoutesOptions;
  readonly #calls: ProviderCalls;
  readonly #document = JSON.stringify(spaceProviderOpenAPI);

  constructor(options: RoutesOptions) {
    this.#options = options;
    this.#calls = new ProviderCalls(options.provider, options.callTimeout);
  }

  /** @throws ApiError, which the server writes */
  async answer(req: IncomingMessage, res: ServerResponse, request: RawRequest<unknown>): Promise<void> {
    const subject = subjectOf(request.tail);
    const { method = "" } = req;
    const answers = this.#answersOf(subject);
    const run = answers[method];
    if (run === undefined) {
      res.setHeader("Allow", Object.keys(answers).join(", "));
      throw ApiError.methodNotAllowed(SPACES, method);
    }
    const parameters = new Parameters(request.search);
    const parent = parameters.text("parent");
    if (parent !== undefined && !this.#options.hierarchy)
      throw ApiError.notImplemented("parent: the provider has no hierarchy: omit the parameter");
    if (subject.kind !== "document" && subject.kind !== "status") await this.#ready();
    await run({ req, res, request, parameters, call: { parent, signal: request.signal } });
  }

  #answersOf(subject: Subject): Methods {
    switch (subject.kind) {
      case "document":
        return { GET: ({ res }) => send(res, MEDIA.json, this.#document) };
      case "status":
        return { GET: (question) => this.#status(question) };
      case "spaces":
        return { GET: (question) => this.#list(question) };
      case "kubeconfig":
        return { GET: (question) => this.#kubeconfig(question, subject.name) };
      case "space":
        return {
          GET: (question) => this.#get(question, subject.name),
          PUT: (question) => this.#create(question, subject.name),
          DELETE: (question) => this.#delete(question, subject.name),
        };
    }
  }

  async #status({ res }: RouteRequest): Promise<void> {
    const { create, delete: remove, watch } = this.#options.provider;
    const capabilities = {
      create: create !== undefined,
      delete: remove !== undefined,
      watch: watch !== undefined,
      hierarchy: this.#options.hierarchy,
    };
    const problem = await this.#ready().catch((error: ApiError) => error.message.slice(0, 1024));
    const status: Bodies["ProviderStatus"] = {
      ready: problem === undefined,
      version: this.#options.version,
      capabilities,
      ...(problem !== undefined && { message: problem }),
    };
    send(res, MEDIA.json, JSON.stringify(status));
  }

  async #list(question: RouteRequest): Promise<void> {
    const { res, parameters, call } = question;
    if (parameters.oneOf("watch", ["1", "0"]) === "1") return this.#watch(question);
    const page = { limit: parameters.number("limit"), continue: parameters.text("continue") };
    const spaces = await this.#asked(() => this.#calls.list(call));
    for (const { name } of spaces.values()) told(name);
    send(res, MEDIA.json, JSON.stringify(pageOf(spaces.values(), page)));
  }

  async #watch({ res, request, call: { parent } }: RouteRequest): Promise<void> {
    const { heartbeat, onError } = this.#options;
    const { watch } = this.#calls;
    if (watch === undefined)
      throw ApiError.notImplemented("watch: the provider does not report changes: list periodically");
    request.takeTime();
    const ending = AbortSignal.any([request.signal, request.ending]);
    using hints = new ChangeQueue(watch({ parent, signal: ending }));
    await answerWatch(res, { hints, heartbeat, ending, onError });
  }

  async #get({ res, call }: RouteRequest, name: string): Promise<void> {
    send(res, MEDIA.json, JSON.stringify(await this.#there(name, call)));
  }

  async #create({ req, res, call }: RouteRequest, name: string): Promise<void> {
    if (!this.#calls.canCreate) throw ApiError.notImplemented("the provider cannot create spaces");
    const late = AbortSignal.timeout(this.#options.callTimeout);
    await readSpaceRequest(req, res, AbortSignal.any([call.signal, late])).catch((error: unknown) => {
      throw late.aborted ? ApiError.timeout("the request body did not arrive in time", 1) : error;
    });
    await this.#asked(() => this.#calls.create(name, call));
    begun(res);
  }

  async #delete({ res, call }: RouteRequest, name: string): Promise<void> {
    if (!this.#calls.canDelete) throw ApiError.notImplemented("the provider cannot delete spaces");
    await this.#asked(() => this.#calls.delete(name, call));
    begun(res);
  }

  async #kubeconfig({ res, parameters, call }: RouteRequest, name: string): Promise<void> {
    const scope = parameters.oneOf("scope", ["incluster", "external"]);
    if (scope === undefined) throw ApiError.badRequest("scope: missing query parameter: use `incluster` or `external`");
    const { phase, message = "it is being created" } = await this.#there(name, call);
    if (phase !== "Ready") throw ApiError.conflict(SPACES, name, `the space is not ready: ${message}`);
    const access = await this.#asked(() => this.#calls.access(name, call));
    const text = access[scope] ?? access.incluster ?? access.external ?? "";
    if (Buffer.byteLength(text) > LIMITS.kubeconfig)
      throw ApiError.internalError(`the kubeconfig is longer than ${LIMITS.kubeconfig} bytes`);
    send(res, MEDIA.kubeconfig, text);
  }

  /** @throws ApiError 404 about the space; as {@link #asked} */
  async #there(name: string, call: ProviderCall): Promise<PhysicalSpace> {
    const space = await this.#asked(() => this.#calls.poll(name, call));
    if (space === undefined) throw ApiError.notFound(SPACES, name);
    return space;
  }

  /** @throws ApiError for an error of the provider */
  async #asked<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      const answer = answerTo(error);
      if (answer !== error && answer.code >= 500) this.#options.onError(error);
      throw answer;
    }
  }

  async #ready(): Promise<void> {
    try {
      await this.#options.ready();
    } catch (error) {
      throw ApiError.serviceUnavailable(error instanceof Error ? error.message : String(error), 1);
    }
  }
}

/** @throws ApiError 500 on a name that cannot be in a URL */
function told(name: string): void {
  if (!isSpaceName(name))
    throw ApiError.internalError(`the provider has a space with the invalid name ${quote(name)}: ${NAME_PROBLEM}`);
}
