/** A kind of project. */
export interface Template {
  readonly name: TemplateName;
  /** Short description of the project. */
  readonly about: string;
}

export type TemplateName = "view" | "writable-view" | "view-over-workspaces" | "controller" | "express";

/** The folders in templates/, in the order of the question. */
export const TEMPLATES: readonly Template[] = [
  { name: "view", about: "a read-only view of computed objects" },
  { name: "writable-view", about: "a view whose objects kubectl creates, changes and deletes" },
  { name: "view-over-workspaces", about: "a view of objects in workspaces, as each workspace allows" },
  { name: "controller", about: "a controller of an API of its own" },
  { name: "express", about: "an Express application that also serves a view" },
];

export function isTemplate(name: string): name is TemplateName {
  return TEMPLATES.some((template) => template.name === name);
}
