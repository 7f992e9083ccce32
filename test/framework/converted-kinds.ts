// Widgets in two versions: v1 is stored and has a size in millimeters, v1beta1 is also served and has the size as text.
import {
  allow,
  type Collection,
  converted,
  defineResource,
  defineVirtualWorkspace,
  type ServedResource,
} from "@virtual-workspaces/framework";
import { type PlainServer, startPlain } from "../_support/plain.ts";

const common = { group: "test.dev", kind: "Widget", scope: "Cluster" } as const;
const status = { type: "object", properties: { phase: { type: "string" } } } as const;

export const Widget = defineResource({
  ...common,
  version: "v1",
  spec: {
    type: "object",
    required: ["millimetres"],
    properties: { millimetres: { type: "integer", minimum: 1 }, colour: { type: "string" } },
  },
  status,
  selectableFields: [".spec.millimetres"],
});
export type WidgetContent = { spec: { millimetres: number; colour?: string }; status?: { phase?: string } };
export type Widgets = Collection<WidgetContent>;

export const WidgetV1beta1 = defineResource({
  ...common,
  version: "v1beta1",
  spec: {
    type: "object",
    required: ["size"],
    properties: { size: { type: "string", pattern: "^-?[0-9]+mm$" }, colour: { type: "string" } },
  },
  status,
  columns: { Size: ".spec.size" },
  selectableFields: [".spec.size"],
});

/** Number of conversions in each direction. */
export interface Counts {
  read: number;
  write: number;
}

export function v1beta1(
  widgets: Widgets,
  counts: Counts = { read: 0, write: 0 },
  bounds: { readonly memory?: number; readonly linger?: number } = {},
) {
  return converted({
    from: widgets,
    to: WidgetV1beta1,
    read: ({ spec: { millimetres, ...spec }, status }) => {
      counts.read += 1;
      return { spec: { ...spec, size: `${millimetres}mm` }, ...(status && { status }) };
    },
    write: ({ spec: { size, ...spec }, status }) => {
      counts.write += 1;
      return { spec: { ...spec, millimetres: Number.parseInt(size, 10) }, ...(status && { status }) };
    },
    ...bounds,
  });
}

export const V1 = "/services/w/clusters/root/apis/test.dev/v1/widgets";
export const BETA = "/services/w/clusters/root/apis/test.dev/v1beta1/widgets";

export function serve(...resources: readonly ServedResource[]): Promise<PlainServer> {
  const view = { name: "w", path: "/clusters/:cluster", wildcard: true, authorize: () => allow(), resources } as const;
  return startPlain([defineVirtualWorkspace(view)], { bookmarkEvery: 5 });
}

export const beta = (name: string, spec: object, metadata: object = {}): object => ({
  apiVersion: "test.dev/v1beta1",
  kind: "Widget",
  metadata: { name, ...metadata },
  spec,
});
