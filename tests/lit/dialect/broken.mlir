// Wrong answers of the other methods.
// RUN: terrazzo opt %s --load-dialect %broken_dialect -split-input-file -verify-diagnostics

func.func @rule_that_does_not_fit(%arg0: tensor<4xf32>) {
  // expected-error@+2 {{'broken.rule' op result - mapping rank must match: 1 != 2}}
  // expected-error@+1 {{'broken.rule' op method 'sharding_rule' of its dialect answers with a rule that does not fit the op}}
  %0 = "broken.rule"(%arg0) : (tensor<4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @no_rule(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{'broken.rule' op method 'sharding_rule' of its dialect answers with what is no sdy.op_sharding_rule}}
  %0 = "broken.rule"(%arg0) {break = "no rule"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @inference_without_an_answer(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{'broken.infer' op method 'infer' of its dialect leaves out the type of result #0}}
  %0 = "broken.infer"(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @refused_without_a_word() {
  // expected-error@+1 {{'broken.verify' op is refused by its dialect}}
  "broken.verify"() {break = "verify"} : () -> ()
  "broken.verify"() : () -> ()
  return
}

// -----

func.func @elementwise_of_two_shapes(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{'broken.same' op is elementwise, but its tensors have different shapes}}
  %0 = "broken.same"(%arg0) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @constant_with_an_operand(%arg0: tensor<4xf32>) {
  // expected-error@+1 {{'broken.value' op is a constant, which has no operands and one result}}
  %0 = "broken.value"(%arg0) : (tensor<4xf32>) -> tensor<5xf32>
  return
}
