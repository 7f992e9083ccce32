import { formatCause, type JsonSchema } from "@virtual-workspaces/apimachinery";
import { compileSchema, type StructuralSchema } from "@virtual-workspaces/apimachinery/schema";
import { excerpt, expectCode, expectJson, fail } from "../assertions/expect.ts";
import { isObject, type JsonObject, textAt } from "../assertions/json.ts";
import type { Answer, RequestLine } from "../http/answer.ts";

/** Space in a provider's answer. */
export interface ListedSpace {
  readonly name: string;
  readonly id?: string;
  readonly phase: "Initializing" | "Ready";
}

/** Fields of the protocol's document that the suite reads. */
export interface ProtocolDocument {
  readonly paths?: object;
  readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> };
}

type BodyName = "Space" | "SpaceList" | "SpaceEvent" | "ProviderStatus" | "Status";

/** Validates bodies by the schemas of the protocol's document. */
export class Bodies {
  readonly #schemas: ReadonlyMap<string, StructuralSchema>;

  constructor({ components }: ProtocolDocument) {
    const schemas = Object.entries(components?.schemas ?? {}) as [string, JsonSchema][];
    this.#schemas = new Map(schemas.map(([name, schema]) => [name, compileSchema(schema)]));
  }

  /** Expects a 200 with this body. @throws CheckFailure */
  ok(name: BodyName, answer: Answer): JsonObject {
    expectCode(answer, [200]);
    return this.body(name, answer);
  }

  /** @throws CheckFailure */
  body(name: BodyName, answer: Answer): JsonObject {
    return this.value(name, answer.request, expectJson(answer));
  }

  /** @throws CheckFailure */
  value(name: BodyName, request: RequestLine, value: unknown): JsonObject {
    if (!isObject(value)) fail(request, `a ${name}`, JSON.stringify(value));
    const [cause] = this.#schemas.get(name)?.validate(value) ?? [];
    if (cause !== undefined) fail(request, `a ${name} that matches the document`, formatCause(cause));
    return value;
  }

  /** Expects an error: a Status whose code is that of its answer. @throws CheckFailure */
  refusal(answer: Answer, codes: readonly number[], why = ""): JsonObject {
    expectCode(answer, codes, why);
    const status = this.body("Status", answer);
    if (status["code"] !== answer.status) fail(answer.request, `a Status of code ${answer.status}`, excerpt(answer));
    return status;
  }

  /** Expects a 404 that names the space: a manager takes any other for a proxy's. @throws CheckFailure */
  absent(answer: Answer, name: string): void {
    const status = this.refusal(answer, [404]);
    if (textAt(status, "details", "kind") !== "spaces" || textAt(status, "details", "name") !== name)
      fail(answer.request, `details of kind spaces and name ${name}`, excerpt(answer));
  }
}
