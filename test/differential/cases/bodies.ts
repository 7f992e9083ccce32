import { APPLY_TYPE, JSON_TYPE, YAML_TYPE } from "../api.ts";
import { type RequestStep, type Step, type Topic, topic } from "../step.ts";
import { plain, rich } from "./kinds.ts";

/** Creates an object from a text with this media type. */
export const post = (type: string, text: string, query = ""): RequestStep =>
  plain.raw(`POST ${plain.path("", query === "" ? {} : { query })}`, { type, text });
const head = '{"apiVersion":"oracle.dev/v1","kind":"Plain","metadata":{"name":"a"},';
const body = `${head}"spec":{"text":"x"}}`;
/** Repeats it in each mode of field validation. */
export const modes = (text: string, type = JSON_TYPE): Step[] =>
  [
    "",
    "fieldValidation=",
    "fieldValidation=Ignore",
    "fieldValidation=Warn",
    "fieldValidation=Strict",
    "fieldValidation=Maybe",
  ].map((mode) => post(type, text, mode === "" ? "dryRun=All" : `dryRun=All&${mode}`));

export const FIELD_VALIDATION: Topic = topic("field-validation", {
  "of unknown fields": modes(`${head}"spec":{"text":"x","unknown":1,"nested":{"what":2}},"junk":{}}`),
  "of duplicates": modes(`${head}"spec":{"text":"x","text":"y"}}`),
  "of duplicates within duplicates": modes(
    `${head}"spec":{"text":"x","nested":{"a":"1","a":"2"}},"spec":{"text":"z","text":"q"}}`,
  ),
  "of unknown and duplicate fields": modes(`${head}"spec":{"text":"x","text":"y","unknown":1,"unknown":2}}`),
  "of unknown metadata": modes(
    '{"apiVersion":"oracle.dev/v1","kind":"Plain","metadata":{"name":"a","unknown":1,"labels":{"a":"b","a":"c"}},"spec":{}}',
  ),
  "of unknown fields in lists": modes(`${head}"spec":{"steps":[{"name":"x","junk":1},{"junk":2},{"junk":3}]}}`),
  "of case": modes(`${head}"Spec":{"text":"x"},"spec":{"Text":"y"}}`),
  "of many": modes(`${head}"spec":{${Array.from({ length: 150 }, (_, at) => `"unknown${at}":1`).join(",")}}}`),
  "with long names": modes(`${head}"spec":{"${"x".repeat(500)}":1,"quo\\"te":2,"é":3,"new\\nline":4}}`),
  "of status where there is none": modes(`${head}"status":{"a":1}}`),
  "of what a schema leaves open": [
    rich.make(
      "a",
      { spec: { free: { x: 1 }, half: { y: 1, closed: { z: 1 } }, unknown: 1 } },
      { query: "fieldValidation=Strict" },
    ),
    rich.make("a", { spec: { free: { x: 1 }, anything: { y: 1 } } }, { query: "fieldValidation=Strict" }),
    rich.make(
      "b",
      {
        spec: {
          template: { apiVersion: "v1", kind: "X", metadata: { junk: 1 } },
          typed: { apiVersion: "v1", kind: "X", junk: 1 },
        },
      },
      { query: "fieldValidation=Strict" },
    ),
  ],
  "on update": [
    plain.make("a", {}, { as: "made" }),
    plain.change("made", { spec: { unknown: 1 } }),
    plain.change("made", { spec: { unknown: 1 } }, { query: "fieldValidation=Strict" }),
    plain.change("made", { spec: { unknown: 1 } }, { query: "fieldValidation=Ignore" }),
  ],
});

export const BODIES: Topic = topic("bodies", {
  "that are no objects": ["[]", "1", '"x"', "null", "true", "", " ", "{}", "[{}]"].map((text) => post(JSON_TYPE, text)),
  "that are malformed": [
    "{",
    `${head}`,
    "{'a':1}",
    '{"a":1,}',
    '{"a":1}}',
    "nonsense",
    `${body}x`,
    `${body}${body}`,
    '{"a":\u0000}',
    '{"a":"\n"}',
    '{"a":01}',
    '{"a":NaN}',
  ].map((text) => post(JSON_TYPE, text)),
  "with white space around": [post(JSON_TYPE, `\n\t ${body} \r\n`)],
  "with a byte order mark": [post(JSON_TYPE, `\ufeff${body}`)],
  "of media types": [
    post("application/json; charset=utf-8", body.replace('"a"', '"b"')),
    post("APPLICATION/JSON", body.replace('"a"', '"c"')),
    post("text/plain", body),
    post("application/x-www-form-urlencoded", body),
    post("application/vnd.kubernetes.protobuf", body),
    post("application/cbor", body),
    post("nonsense", body),
    post("", body.replace('"a"', '"d"')),
    post("application/json, text/plain", body),
    post(APPLY_TYPE, body),
    post("application/merge-patch+json", body),
    post("*/*", body),
    post("application/json;stream=watch", body.replace('"a"', '"e"')),
    post("text/yaml", body.replace('"a"', '"f"')),
    post("application/x-yaml", body.replace('"a"', '"g"')),
  ],
  "of media types, put": [
    plain.make("a"),
    plain.raw(`PUT ${plain.path("a")}`, { type: "text/plain", text: body }),
    plain.raw(`PUT ${plain.path("a")}`, { type: YAML_TYPE, text: body }),
    plain.raw(`PUT ${plain.path("a")}`, { type: JSON_TYPE, text: "" }),
    plain.raw(`PUT ${plain.path("a")}`, { type: JSON_TYPE, text: "[]" }),
    plain.raw(`PUT ${plain.path("a")}`, { type: JSON_TYPE, text: "{" }),
  ],
  "that are too large": [
    plain.raw(`POST ${plain.path()}`, {
      type: JSON_TYPE,
      fill: { head: `${head}"data":{"k":"`, piece: "0123456789abcdef", times: 200_000, tail: '"}}' },
    }),
  ],
  "that are too large for the store": [
    plain.raw(`POST ${plain.path()}`, {
      type: JSON_TYPE,
      fill: { head: `${head}"data":{"k":"`, piece: "0123456789abcdef", times: 100_000, tail: '"}}' },
    }),
  ],
  "that are large": [
    plain.raw(`POST ${plain.path("", { query: "dryRun=All" })}`, {
      type: JSON_TYPE,
      fill: { head: `${head}"spec":{"tags":["x"`, piece: ',"x"', times: 3_000, tail: "]}}" },
    }),
  ],
  "that are deep": [
    rich.raw(`POST ${rich.path("", { query: "dryRun=All" })}`, {
      type: JSON_TYPE,
      fill: {
        head: '{"apiVersion":"oracle.dev/v1","kind":"Rich","metadata":{"name":"a"},"spec":{"anything":',
        piece: "[",
        times: 20_000,
        tail: "",
      },
    }),
  ],
  "in another charset": [post("application/json; charset=iso-8859-1", body)],
  "with texts beyond ASCII": [
    plain.make("a", { spec: { text: "é ❤ 😀 \u2028 <b>&amp;</b>" } }),
    plain.get("a"),
    plain.get("a", { headers: { accept: YAML_TYPE } }),
  ],
  "with texts beyond what YAML has": [
    plain.make("a", { spec: { text: "\u007f \u0001" } }),
    plain.get("a"),
    plain.make("b", { spec: { text: "a lone surrogate: \ud800" } }),
  ],
  "of a get": [plain.make("a"), { send: `GET ${plain.path("a")}`, text: "{", headers: { "content-type": JSON_TYPE } }],
});
