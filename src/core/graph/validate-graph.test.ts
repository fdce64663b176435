import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dependencyEdges } from '../../api/dependency-edges.ts';
import type { GraphNode } from '../../api/kinds/graph.ts';
import { graphProblems, validateGraph } from './validate-graph.ts';

const node = (id: string, dependsOn: string[] = [], more: Partial<GraphNode> = {}): GraphNode => ({
  id,
  kind: 'PromotionStep',
  environment: id,
  dependsOn,
  ...more,
});
const check = (nodes: GraphNode[]) =>
  validateGraph({ pipeline: 'p', bundle: 'b', nodes }, (text) => (text === 'bad' ? 'unexpected end' : undefined));

describe('a Graph', () => {
  it('with an order and valid expressions is accepted', () => {
    assert.equal(check([node('b', ['a'], { readyWhen: 'good' }), node('a')]), undefined);
    assert.equal(check([]), undefined);
  });
  it('with a cycle is not, and the path is named', () => {
    assert.deepEqual(check([node('a', ['b']), node('b', ['a']), node('c', ['a'])]), {
      code: 'Cycle',
      message: 'Node dependencies form a cycle: a → b → a (each waits for the next).',
    });
  });
  it('with a reference to a missing node is not', () => {
    const reason = check([node('a', ['z'])]);
    assert.equal(reason?.code, 'MissingNode');
    assert.match(reason?.message ?? '', /"a" depends on "z"/);
  });
  it('with one id twice is not', () => {
    assert.equal(check([node('a'), node('a')])?.code, 'DuplicateNode');
  });
  it('with an invalid expression is not, and node, field and error are named', () => {
    for (const field of ['readyWhen', 'propagateWhen'] as const) {
      assert.deepEqual(check([node('a', [], { [field]: 'bad' })]), {
        code: 'InvalidCEL',
        message: `Node "a": ${field} is no valid CEL expression: unexpected end`,
      });
    }
  });
  it('of two thousand nodes in a chain, the last one first, is checked in no time', () => {
    const nodes = Array.from({ length: 2000 }, (_, index) => node(`n${index}`, index === 1999 ? [] : [`n${index + 1}`]));
    assert.equal(check(nodes), undefined);
    assert.equal(check([...nodes.slice(0, -1), node('n1999', ['n0'])])?.code, 'Cycle');
  });
});

describe('the problems of a Pipeline', () => {
  it('are all named, separate cycles too', () => {
    const environments = [
      { name: 'a', wave: 0, dependsOn: ['b'] },
      { name: 'b', wave: 0, dependsOn: ['a'] },
      { name: 'c', wave: 0, dependsOn: ['d'] },
      { name: 'd', wave: 0, dependsOn: ['c'] },
      { name: 'e', wave: 0, dependsOn: ['x', 'y'] },
    ];
    assert.deepEqual(
      graphProblems(environments).map(({ code }) => code),
      ['MissingNode', 'MissingNode', 'Cycle', 'Cycle'],
    );
  });
  it('leave unknown names in the edges, so that they can be reported', () => {
    assert.deepEqual(dependencyEdges([{ name: 'a', wave: 1, dependsOn: ['x', 'x'] }]), [{ environment: 'a', dependsOn: ['x'] }]);
  });
});
