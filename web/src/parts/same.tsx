/** Draws something once, and again only when it is another object: what did not change costs nothing while text streams. */

import { Component, type ComponentChildren } from "preact";

interface SameProps<T> {
  readonly of: T;
  /** What else it depends on. */
  readonly and?: unknown;
  readonly show: (of: T) => ComponentChildren;
}

export class Same<T> extends Component<SameProps<T>> {
  override shouldComponentUpdate(next: SameProps<T>): boolean {
    return next.of !== this.props.of || next.and !== this.props.and;
  }

  override render({ of, show }: SameProps<T>) {
    return show(of);
  }
}
