/** Where in an object a walk is, as field.Path writes it: `spec.ports[0].name`, `spec.map[key]`. Text is made when asked for. */
export class Place {
  static readonly root: Place = new Place(undefined, "");

  readonly #parent: Place | undefined;
  readonly #step: string | number;
  readonly #key: boolean;

  constructor(parent: Place | undefined, step: string | number, key = false) {
    this.#parent = parent;
    this.#step = step;
    this.#key = key;
  }

  /** A property. */
  child(name: string): Place {
    return new Place(this, name);
  }

  /** A value of a map. */
  key(name: string): Place {
    return new Place(this, name, true);
  }

  item(at: number): Place {
    return new Place(this, at);
  }

  /** "" at the root. */
  toString(): string {
    const steps: string[] = [];
    let place: Place = this;
    while (place.#parent !== undefined) {
      steps.push(place.#key || typeof place.#step === "number" ? `[${place.#step}]` : `.${place.#step}`);
      place = place.#parent;
    }
    const text = steps.reverse().join("");
    return text.startsWith(".") ? text.slice(1) : text;
  }
}
