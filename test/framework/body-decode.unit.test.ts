import { readFileSync } from "node:fs";
import { type ApiError, isApiError } from "@virtual-workspaces/apimachinery";
import { equalJson, parseJson, stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { expect } from "chai";
import { type DecodedBody, type DecodeOptions, decodeBody } from "../../packages/framework/src/body/decode.ts";
import { YamlReader } from "../../packages/framework/src/body/yaml/yaml-reader.ts";

const APPLY = "application/apply-patch+yaml";
const MERGE = "application/merge-patch+json";

interface Recorded {
  readonly yaml: string;
  readonly code: number;
  readonly json?: unknown;
  readonly others?: readonly string[];
}

/** Results of sigs.k8s.io/yaml. */
const recorded = parseJson(readFileSync(new URL("fixtures/yaml.snapshot.json", import.meta.url), "utf8"))
  .value as readonly Recorded[];

describe("decodeBody", () => {
  let yaml: YamlReader;
  before(() => {
    yaml = new YamlReader({ budget: 30_000 });
  });
  after(() => yaml[Symbol.asyncDispose]());

  async function decode(text: string | Buffer, type?: string, options?: DecodeOptions): Promise<DecodedBody> {
    return decodeBody(Buffer.from(text as string), type, { yaml, ...options });
  }

  async function refusal(text: string | Buffer, type?: string, options?: DecodeOptions): Promise<ApiError> {
    try {
      await decode(text, type, options);
    } catch (error) {
      if (isApiError(error)) return error;
      throw error;
    }
    throw new Error("it was decoded");
  }

  describe("media types", () => {
    for (const type of [undefined, "", "application/json", " Application/JSON ; charset=utf-8", "application/json;"])
      it(`JSON: ${JSON.stringify(type)}`, async () => {
        expect(await decode('{"a":[9007199254740993],"a":1,"b":{"c":1,"c":2}}', type)).to.deep.equal({
          value: { a: 1, b: { c: 2 } },
          duplicates: ["a", "b.c"],
          others: [],
        });
      });

    for (const type of ["application/yaml", "application/yaml; charset=utf-8"])
      it(`YAML: ${type}`, async () => expect((await decode("a: on\n", type)).value).to.deep.equal({ a: true }));

    for (const type of ["application/vnd.kubernetes.protobuf", "application/cbor-seq", "text/yaml", "x", APPLY, MERGE])
      it(`unsupported: ${type}`, async () => {
        const { code, reason, message } = await refusal("{}", type);
        expect([code, reason, message]).to.deep.equal([
          415,
          "UnsupportedMediaType",
          "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml",
        ]);
      });

    it("others when they are accepted; JSON is then not the default", async () => {
      expect((await decode('{"a":1}', MERGE, { accepted: [MERGE, APPLY] })).value).to.deep.equal({ a: 1 });
      expect((await decode("a: 1", APPLY, { accepted: [MERGE, APPLY] })).value).to.deep.equal({ a: 1 });
      expect((await refusal("{}", undefined, { accepted: [MERGE, APPLY] })).message).to.match(
        /: application\/merge-patch\+json, application\/apply-patch\+yaml$/,
      );
    });
  });

  describe("malformed bodies", () => {
    const place = "at line 1 column 2";
    for (const [what, text, type, options, message] of [
      ["JSON", "{a", undefined, {}, `couldn't get version/kind; json parse error: ${beginning("a", place)}`],
      [
        "JSON of a kind",
        "{a",
        undefined,
        { kind: "Note" },
        `the object provided is unrecognized (must be of type Note): couldn't get version/kind; json parse error: ${beginning("a", place)} ({a)`,
      ],
      [
        "what is long and no object",
        `[1,${" ".repeat(50)}`,
        undefined,
        { kind: "Note" },
        `the object provided is unrecognized (must be of type Note): couldn't get version/kind; json parse error: unexpected end of JSON input (${Buffer.from(`[1,${" ".repeat(27)}`).toString("hex")} ...)`,
      ],
      [
        "nothing",
        "",
        undefined,
        { kind: "Note" },
        "the object provided is unrecognized (must be of type Note): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
      ],
      ["a JSON patch", "{a", MERGE, { accepted: [MERGE] }, `invalid JSON patch: ${beginning("a", place)}`],
      [
        "YAML",
        "a: b: c",
        "application/yaml",
        {},
        "yaml: line 1 column 4: Nested mappings are not allowed in compact mappings",
      ],
      [
        "YAML of a kind",
        "a: [",
        "application/yaml",
        { kind: "Note" },
        "the object provided is unrecognized (must be of type Note): yaml: line 1 column 5: Flow sequence in block collection must be sufficiently indented and end with a ] (613a205b)",
      ],
      [
        "an apply",
        "a: @",
        APPLY,
        { accepted: [APPLY] },
        "error encoding patch: yaml: line 1 column 4: Plain value cannot start with reserved character @",
      ],
      [
        "two documents",
        "a: 1\n---\nb: 2\n",
        "application/yaml",
        {},
        "yaml: the body has more than one document: send each in its own request",
      ],
      ["control characters", "a: \u0001", "application/yaml", {}, "yaml: control characters are not allowed"],
      ["deep nesting", "[".repeat(12_000), "application/yaml", {}, "yaml: nested too deeply"],
      ["1,001 levels", `${"[".repeat(1001)}${"]".repeat(1001)}`, "application/yaml", {}, "yaml: nested too deeply"],
      [
        "1,001 levels of JSON",
        `${"[".repeat(1001)}${"]".repeat(1001)}`,
        undefined,
        {},
        "couldn't get version/kind; json parse error: nested deeper than 1000 levels",
      ],
    ] as const) {
      it(what, async () => {
        const { code, message: given } = await refusal(text, type, options);
        expect([code, given]).to.deep.equal([400, message]);
      });
    }

    it("reject YAML that is not UTF-8; in JSON, invalid bytes are replaced, as in Go", async () => {
      const bytes = Buffer.from('["\xff"]', "latin1");
      expect((await refusal(bytes, "application/yaml")).message).to.equal("yaml: the body is not UTF-8");
      expect((await decode(bytes)).value).to.deep.equal(["\ufffd"]);
    });
  });

  describe("YAML, as Kubernetes reads it", () => {
    for (const { yaml: text, code, json = null, others = [] } of recorded) {
      it(JSON.stringify(text), async () => {
        if (code === 400) {
          expect((await refusal(text, "application/yaml")).code).to.equal(400);
          return;
        }
        const decoded = await decode(text, "application/yaml");
        if (!equalJson(decoded.value, json)) expect(stringifyJson(decoded.value)).to.equal(stringifyJson(json));
        expect([decoded.duplicates, decoded.others]).to.deep.equal([[], others]);
      });
    }

    it("includes JSON, whose duplicates are reported as YAML's", async () => {
      const text = '{"a":9007199254740993,\n"b":1e3}';
      expect((await decode(text, "application/yaml")).value).to.deep.equal({ a: 9007199254740993n, b: 1000 });
      const { value, duplicates, others } = await decode('{"a":1,\n"a":2}', "application/yaml");
      expect([value, duplicates, others]).to.deep.equal([{ a: 2 }, [], ['line 2: key "a" already set in map']]);
    });

    it("reports at most a hundred duplicate keys", async () => {
      expect((await decode("a: 1\n".repeat(1000), "application/yaml")).others).to.have.length(100);
    });
  });

  describe("long YAML", () => {
    const entries = Array.from({ length: 5000 }, (_, at) => `key${at}: { id: ${2n ** 62n}, text: on }\n`).join("");

    it("is parsed in a worker, to the same value", async () => {
      const { value, others } = await decode(`${entries}key0: 1\n`, "application/yaml");
      const { key1, key0 } = value as Record<string, unknown>;
      expect([key0, key1, others]).to.deep.equal([
        1,
        { id: 2n ** 62n, text: true },
        ['line 5001: key "key0" already set in map'],
      ]);
      expect((await refusal(`${entries}- x`, "application/yaml")).message).to.match(/^yaml: line 5001 column 1: /);
    });

    it("is rejected without a worker", async () => {
      const { code, message } = await refusal(entries, "application/yaml", { yaml: undefined } as never);
      expect([code, message]).to.deep.equal([
        413,
        "Request entity too large: the YAML document is longer than 16384 characters: send it as JSON",
      ]);
    });

    it("is aborted when it takes too long", async () => {
      await using impatient = new YamlReader({ budget: 1 });
      const { code, message } = await refusal(entries, "application/yaml", { yaml: impatient });
      expect([code, message]).to.deep.equal([
        413,
        "Request entity too large: the YAML document takes longer than 1 ms to parse: send it as JSON",
      ]);
    });

    it("is aborted when it takes too much memory", async () => {
      await using poor = new YamlReader({ budget: 30_000, heapMiB: 16 });
      const { code, message } = await refusal(entries.repeat(4), "application/yaml", { yaml: poor });
      expect([code, message]).to.deep.equal([
        413,
        "Request entity too large: the YAML document takes too much memory to parse: send it as JSON",
      ]);
    });

    it("gets 429 when the queue is full", async () => {
      await using narrow = new YamlReader({ budget: 30_000, queue: 0 });
      const first = decode(entries, "application/yaml", { yaml: narrow });
      const { code, status } = await refusal(entries, "application/yaml", { yaml: narrow });
      expect([code, status.details]).to.deep.equal([429, { retryAfterSeconds: 1 }]);
      expect((await first).value).to.have.property("key0");
    });

    it("is dropped when the client disconnects, and rejected when the server closes", async () => {
      const reader = new YamlReader({ budget: 30_000 });
      const leaving = new AbortController();
      const left = decode(entries, "application/yaml", { yaml: reader, request: leaving }).catch(String);
      leaving.abort(new Error("left"));
      expect(await left).to.equal("Error: left");
      const stopped = refusal(entries, "application/yaml", { yaml: reader });
      await reader[Symbol.asyncDispose]();
      expect((await stopped).code).to.equal(503);
    });
  });
});

function beginning(character: string, place: string): string {
  return `invalid character '${character}' looking for beginning of object key string ${place}`;
}
