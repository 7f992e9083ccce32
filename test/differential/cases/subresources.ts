import { type Topic, topic } from "../step.ts";
import { dual, machine, plain, waiter } from "./kinds.ts";

const made = machine.make("m", { spec: { replicas: 1, image: "x" } }, { as: "made" });
const status = { sub: "status" } as const;
const scale = { sub: "scale" } as const;

export const STATUS: Topic = topic("status", {
  "is dropped on create": [machine.make("m", { spec: {}, status: { phase: "Running" } }), machine.get("m")],
  "is read": [made, machine.get("m", status), machine.get("n", status)],
  "is put": [
    made,
    machine.change("made", { status: { phase: "Running" } }, { ...status, as: "second" }),
    machine.get("m"),
    machine.change("second", { status: { phase: "Running" } }, status),
    machine.change("second", { status: { phase: "Failed" }, spec: { replicas: 50 } }, status),
    machine.get("m"),
  ],
  "is put with other metadata": [
    made,
    machine.change(
      "made",
      {
        status: { phase: "Running" },
        metadata: { labels: { a: "b" }, annotations: { c: "d" }, finalizers: ["example.dev/x"] },
      },
      status,
    ),
    machine.get("m"),
  ],
  "is put, stale": [
    made,
    machine.merge("m", { spec: { replicas: 2 } }),
    machine.change("made", { status: { phase: "Running" } }, status),
  ],
  "is put without a version": [made, machine.put("m", machine.of("m", { status: { phase: "Running" } }), status)],
  "is put where nothing is": [machine.put("m", machine.of("m", { status: { phase: "Running" } }), status)],
  "is removed": [
    made,
    machine.change("made", { status: { phase: "Running" } }, { ...status, as: "second" }),
    machine.change("second", { status: null }, status),
    machine.get("m"),
  ],
  "is patched": [
    made,
    machine.merge("m", { status: { phase: "Running", replicas: 1 } }, status),
    machine.merge("m", { status: { phase: null } }, status),
    machine.json("m", [{ op: "add", path: "/status/phase", value: "Failed" }], status),
    machine.json("m", [{ op: "remove", path: "/status" }], status),
    machine.get("m"),
  ],
  "is patched together with the spec": [
    made,
    machine.merge("m", { spec: { replicas: 9 }, status: { phase: "Running" } }, status),
    machine.get("m"),
  ],
  "does not validate": [
    made,
    machine.merge("m", { status: { phase: "Dancing" } }, status),
    machine.merge("m", { status: { replicas: "one" } }, status),
    machine.merge("m", { status: { unknown: 1 } }, { ...status, query: "fieldValidation=Strict" }),
    machine.merge("m", { spec: { replicas: -1 } }, status),
  ],
  "is kept by updates of the rest": [
    made,
    machine.merge("m", { status: { phase: "Running" } }, { ...status, as: "second" }),
    machine.change("second", { status: null, spec: { replicas: 3 } }),
    machine.merge("m", { status: null }),
    machine.get("m"),
  ],
  "is not created": [{ send: `POST ${machine.path("m", status)}`, body: machine.of("m") }],
  "is not deleted": [made, { send: `DELETE ${machine.path("m", status)}` }],
  "is not listed": [{ send: `GET ${machine.path("", { sub: "status" })}` }],
  dry: [
    made,
    machine.merge("m", { status: { phase: "Running" } }, { ...status, query: "dryRun=All" }),
    machine.get("m"),
  ],
  "by managers": [
    made,
    machine.merge("m", { status: { phase: "Running" } }, { ...status, query: "fieldManager=controller" }),
    machine.merge("m", { status: { phase: "Failed" } }, { ...status, query: "fieldManager=other" }),
    machine.merge("m", { metadata: { annotations: { a: "b" } } }, { ...status, query: "fieldManager=controller" }),
  ],
  "with defaults": [
    waiter.make("w", { status: { phase: "Serving", guests: 2 } }),
    waiter.get("w"),
    waiter.merge("w", { status: { phase: "Serving", guests: 2 } }, status),
    waiter.merge("w", { status: { phase: null } }, status),
    waiter.merge("w", { status: null }, status),
    waiter.json("w", [{ op: "remove", path: "/status" }], status),
    waiter.get("w"),
  ],
  "with defaults, by others": [
    waiter.apply("w", { spec: { table: 2 } }),
    waiter.apply("w", { status: { guests: 3 } }, status),
    waiter.put("x", waiter.of("x", { status: { phase: "Serving" } })),
    waiter.make("y", {}, { query: "dryRun=All" }),
    waiter.make("z", {}),
    waiter.watch("resourceVersion=0"),
    { read: "w", events: 2 },
  ],
  "with defaults, then of nothing": [waiter.make("w", {}), waiter.merge("w", {})],
  "beside nonsense": [made, machine.merge("m", { spec: { image: 7 }, status: { phase: "Running" } }, status)],
  "of a kind that has none": [
    plain.make("a", { status: { x: 1 } }),
    plain.get("a", status),
    plain.merge("a", {}, status),
    dual.get("a", status),
  ],
  "in a watch": [
    made,
    machine.watch("resourceVersion=$(made.metadata.resourceVersion)"),
    machine.merge("m", { status: { phase: "Running" } }, status),
    { read: "w", events: 1 },
  ],
});

export const SCALE: Topic = topic("scale", {
  "is read": [made, machine.get("m", scale), machine.get("n", scale)],
  "is read with a status": [
    made,
    machine.merge("m", { status: { replicas: 3, selector: "a=b" } }, status),
    machine.get("m", scale),
  ],
  "is read where there are no replicas": [machine.make("m", { spec: {} }), machine.get("m", scale)],
  "is put": [
    made,
    machine.get("m", { ...scale, as: "scale" }),
    machine.change("scale", { spec: { replicas: 5 } }, { ...scale, as: "second" }),
    machine.get("m"),
    machine.change("second", { spec: { replicas: 5 } }, scale),
    machine.change("second", { spec: { replicas: 6 }, status: { replicas: 9 } }, scale),
    machine.get("m"),
  ],
  "is put, stale": [
    made,
    machine.get("m", { ...scale, as: "scale" }),
    machine.merge("m", { spec: { replicas: 2 } }),
    machine.change("scale", { spec: { replicas: 3 } }, scale),
  ],
  "is put without a version": [
    made,
    machine.put(
      "m",
      { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "m" }, spec: { replicas: 7 } },
      scale,
    ),
    machine.put(
      "m",
      { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "m", namespace: "ns" }, spec: { replicas: 7 } },
      scale,
    ),
  ],
  "is put where nothing is": [
    machine.put(
      "m",
      { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "m", namespace: "ns" }, spec: { replicas: 7 } },
      scale,
    ),
  ],
  "is put, malformed": [
    made,
    machine.get("m", { ...scale, as: "scale" }),
    machine.change("scale", { spec: { replicas: -1 } }, scale),
    machine.change("scale", { spec: { replicas: 101 } }, scale),
    machine.change("scale", { spec: { replicas: "many" } }, scale),
    machine.change("scale", { spec: null }, scale),
    machine.change("scale", { metadata: { name: "other" } }, { ...scale, name: "m" }),
    machine.change("scale", { metadata: { namespace: "other" } }, { ...scale, name: "m" }),
    machine.change("scale", { metadata: { uid: "7d4a3c70-1111-4222-8333-abcdefabcdef" } }, scale),
    machine.change("scale", { kind: "Machine" }, scale),
    machine.change("scale", { apiVersion: "oracle.dev/v1" }, scale),
    machine.put("m", machine.of("m", { spec: { replicas: 2 } }), scale),
    machine.change("scale", { spec: { unknown: 2 } }, { ...scale, query: "fieldValidation=Strict" }),
  ],
  "is patched": [
    made,
    machine.merge("m", { spec: { replicas: 4 } }, scale),
    machine.json("m", [{ op: "replace", path: "/spec/replicas", value: 5 }], scale),
    machine.merge("m", { spec: { replicas: -5 } }, scale),
    machine.merge("m", { spec: { replicas: null } }, scale),
    machine.get("m"),
  ],
  "is applied": [
    made,
    machine.patch("m", "application/apply-patch+yaml", {
      ...scale,
      query: "fieldManager=hpa",
      body: {
        apiVersion: "autoscaling/v1",
        kind: "Scale",
        metadata: { name: "m", namespace: "ns" },
        spec: { replicas: 8 },
      },
    }),
    machine.patch("m", "application/apply-patch+yaml", {
      ...scale,
      query: "fieldManager=hpa&force=true",
      body: {
        apiVersion: "autoscaling/v1",
        kind: "Scale",
        metadata: { name: "m", namespace: "ns" },
        spec: { replicas: 8 },
      },
    }),
  ],
  dry: [
    made,
    machine.merge("m", { spec: { replicas: 4 } }, { ...scale, query: "dryRun=All" }),
    machine.get("m", scale),
  ],
  "is not deleted or created": [
    made,
    { send: `DELETE ${machine.path("m", scale)}` },
    { send: `POST ${machine.path("m", scale)}`, body: {} },
  ],
  "as a table, and as metadata": [
    made,
    machine.get("m", { ...scale, headers: { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" } }),
    machine.get("m", { ...scale, headers: { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" } }),
    machine.get("m", { ...scale, headers: { accept: "application/yaml" } }),
  ],
  "of a kind that has none": [plain.make("a"), plain.get("a", scale), plain.merge("a", {}, scale)],
  "of replicas that are no numbers": [
    ...["one", 1.5, true, null, [1], { a: 1 }].map((replicas) => machine.make("m", { spec: { replicas } })),
    machine.make("m", { spec: 7 }),
    machine.make("m", { spec: { replicas: -1 } }),
    machine.make("m", { spec: { replicas: 2147483648 } }),
  ],
  ...Object.fromEntries(
    [0, 1].map((replicas) => [
      `of ${replicas}, to ${replicas}`,
      [
        machine.make("m", { spec: { replicas } }),
        machine.merge("m", { spec: { replicas } }, { ...scale, query: "fieldManager=other" }),
        machine.get("m"),
      ],
    ]),
  ),
  "another subresource": [
    made,
    machine.get("m", { sub: "nothing" }),
    machine.get("m", { sub: "status/deep" }),
    machine.put("m", {}, { sub: "exec" }),
  ],
});
