// CubePL text -> tree: one class that reads expressions (expressions.cpp), statements and conditions (statements.cpp),
// which contain each other.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profile/cubepl/parser.hpp"
#include "profile/cubepl/scanner.hpp"

namespace fathom::cubepl {

using expression::NodeIndex;
using expression::Tree;
using expression::Wanted;

class Parser : private Scanner {
 public:
  explicit Parser(std::string_view text) : Scanner(text), steps_left_(text.size() * 64 + 10000) {}

  Result<Parsed> parse(bool statements);

 private:
  // ${name} or ${name}[position]
  struct Target {
    std::string_view name;
    std::vector<NodeIndex> position;
    std::size_t at = 0;
  };

  // Expressions, from what binds least to what binds most.
  NodeIndex expression();
  NodeIndex product();
  NodeIndex signed_factor();
  NodeIndex power();
  NodeIndex primary();
  Target target();
  NodeIndex variable();
  Wanted flavour();
  NodeIndex metric();
  NodeIndex get_property();
  NodeIndex call();
  NodeIndex about_name(std::string_view which);

  NodeIndex lambda();
  NodeIndex statement_list();
  NodeIndex block();
  NodeIndex statement();
  NodeIndex assignment();
  NodeIndex branch();
  NodeIndex set_property();
  // name [(i|e)] << text >>
  NodeIndex define(std::string Definition::*what, Derivation derivation);

  NodeIndex parenthesised_condition();
  NodeIndex condition();
  NodeIndex simple_condition();
  NodeIndex comparison();
  NodeIndex matches(NodeIndex left);

  // One level deeper; false when that is too deep.
  bool enter();
  // A long chain makes a tree as deep as it is long.
  void count_link();
  Tree& tree() { return out_.tree; }
  std::uint32_t mention(std::string_view variable) {
    mentioned_.emplace(variable);
    return tree().variable(variable);
  }

  static constexpr std::size_t kMaxLinks = 400;

  std::size_t steps_left_;
  std::size_t depth_ = 0;
  std::size_t links_ = 0;
  bool fatal_ = false;  // a limit was hit: no other reading is tried
  std::set<std::string, std::less<>> mentioned_;
  Parsed out_;
};

}  // namespace fathom::cubepl
