// What both servers of the fan-out send: one object that changes, about 1 KiB, of one length at every version.
import type { KubeObject } from "@virtual-workspaces/apimachinery";

export const WATCH_PATH = "/services/bench/apis/bench.example/v1/ticks?watch=true&resourceVersion=";
/** The version before the first change. */
export const START = 1_000_000;
const TEXT = "x".repeat(700);

/** The object after its `n`th change, counted from 1. */
export function tickObject(n: number): KubeObject {
  return {
    apiVersion: "bench.example/v1",
    kind: "Tick",
    metadata: {
      name: "tick",
      uid: "3f0d9a0e-7d3f-4f0e-8d3b-1f0e8d3b1f0e",
      resourceVersion: String(START + n),
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { "app.kubernetes.io/name": "tick" },
      annotations: { "bench.example/why": "an object of a usual size" },
    },
    spec: { text: TEXT },
  } as KubeObject;
}

/** The same as a line of a watch. */
export function tickLine(n: number): Buffer {
  return Buffer.from(`{"type":"MODIFIED","object":${JSON.stringify(tickObject(n))}}\n`);
}

/** Milliseconds on a clock that all processes of a machine share. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
